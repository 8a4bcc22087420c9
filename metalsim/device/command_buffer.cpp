#include "device/command_buffer.h"

#include <time.h>

#include <chrono>
#include <cstdlib>
#include <map>
#include <thread>

#include "device/blit_encoder.h"
#include "device/compute_encoder.h"
#include "device/event.h"
#include "device/faults.h"
#include "objc/class_builder.h"
#include "objc/misuse.h"

namespace metalsim::device {
namespace {

constexpr const char* error_domain = "MTLCommandBufferErrorDomain";

double seconds_now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// How long a command buffer waits for an event that nobody signals. A device waits for ever; a test should
/// not.
uint64_t event_patience_milliseconds() {
  const char* const text = std::getenv("METALSIM_EVENT_TIMEOUT_MS");
  return text ? std::strtoull(text, nullptr, 10) : 30'000;
}

/// Command buffers committed and not completed, by queue.
struct InFlight {
  std::mutex mutex;
  std::map<const CommandQueue*, UInteger> count;

  void add(const CommandQueue* queue, int change) {
    std::lock_guard lock(mutex);
    auto& entry = count[queue];
    entry += static_cast<UInteger>(change);
    if (entry == 0) count.erase(queue);
  }
};

InFlight& in_flight() {
  static auto* const instance = new InFlight;
  return *instance;
}

/// Sleeps for a planned hang, and says how a planned fault ends.
std::unique_ptr<Failure> carry_out(const Fault& fault) {
  switch (fault.kind) {
    case FaultKind::hang:
      std::this_thread::sleep_for(std::chrono::milliseconds(fault.milliseconds));
      return std::make_unique<Failure>(
          Failure{MTL::CommandBufferErrorTimeout, "the command buffer took too long (planned fault)"});
    case FaultKind::out_of_memory:
      return std::make_unique<Failure>(
          Failure{MTL::CommandBufferErrorOutOfMemory, "the GPU ran out of memory (planned fault)"});
    case FaultKind::page_fault:
      return std::make_unique<Failure>(
          Failure{MTL::CommandBufferErrorPageFault, "the GPU met a page fault (planned fault)"});
    default:
      return std::make_unique<Failure>(
          Failure{MTL::CommandBufferErrorInternal, "the command buffer failed (planned fault)"});
  }
}

}  // namespace

UInteger CommandBuffer::committed_of(const CommandQueue* queue) {
  std::lock_guard lock(in_flight().mutex);
  const auto found = in_flight().count.find(queue);
  return found == in_flight().count.end() ? 0 : found->second;
}

CommandBuffer::CommandBuffer(CommandQueue* queue, bool retained_references)
    : DeviceObject(queue->owner()), queue_(queue), retained_references_(retained_references) {}

CommandBuffer::~CommandBuffer() {
  release_kept();
  if (status_ < MTL::CommandBufferStatusCommitted) queue_->forget_one();
}

// --- Encoding

bool CommandBuffer::may_encode(const char* what) {
  if (is_committed()) {
    report_misuse(std::string(what) + " on " + describe() +
                  " after commit; ask the queue for another command buffer");
    return false;
  }
  if (open_encoder_) {
    report_misuse(
        std::string(what) + " on " + describe() +
        ": an encoder is still open; call its endEncoding first, a command buffer has one encoder at a time");
    return false;
  }
  return true;
}

/// A mistake still yields an encoder, so that the host's next calls do not fail for a second reason. What it
/// encodes is lost: the command buffer fails, or has been committed and takes nothing more.
template <class Encoder, class... Arguments>
Object* CommandBuffer::open_encoder(const char* what, Arguments... arguments) {
  const bool allowed = may_encode(what);
  auto* const encoder = objc::make_autoreleased<Encoder>(this, arguments...);
  if (allowed) {
    open_encoder_ = encoder;
  } else if (!is_committed()) {
    make_invalid(std::string(what) + " was called when no encoder could begin");
  }
  return encoder;
}

Object* CommandBuffer::compute_encoder() { return compute_encoder_of_type(MTL::DispatchTypeSerial); }

Object* CommandBuffer::compute_encoder_of_type(MTL::DispatchType type) {
  return open_encoder<ComputeEncoder>("computeCommandEncoder", type);
}

Object* CommandBuffer::compute_encoder_from_descriptor(Object* object) {
  const auto* const descriptor = dynamic_cast<ComputePassDescriptor*>(object);
  return compute_encoder_of_type(descriptor ? descriptor->dispatch_type() : MTL::DispatchTypeSerial);
}

Object* CommandBuffer::blit_encoder() { return open_encoder<BlitEncoder>("blitCommandEncoder"); }

void CommandBuffer::encode_signal(Object* object, uint64_t value) {
  auto* const event = dynamic_cast<Event*>(object);
  if (!may_encode("encodeSignalEvent") || !event) return;
  add([event = Ref<Event>(event), value]() -> std::unique_ptr<Failure> {
    event->signal(value);
    return nullptr;
  });
}

void CommandBuffer::encode_wait(Object* object, uint64_t value) {
  auto* const event = dynamic_cast<Event*>(object);
  if (!may_encode("encodeWait") || !event) return;
  add([event = Ref<Event>(event), value]() -> std::unique_ptr<Failure> {
    if (event->wait(value, event_patience_milliseconds())) return nullptr;
    return std::make_unique<Failure>(Failure{
        MTL::CommandBufferErrorTimeout,
        "waited in vain for " + event->describe() + " to reach " + std::to_string(value) + "; it stands at " +
            std::to_string(event->value()) + " (METALSIM_EVENT_TIMEOUT_MS sets how long to wait)"});
  });
}

void CommandBuffer::use_residency_set(Object* object) {
  auto* const set = dynamic_cast<ResidencySet*>(object);
  if (!set) {
    report_misuse("useResidencySet: null, or no residency set");
    return;
  }
  set->check_committed("useResidencySet");
  keep(static_cast<Object*>(set));
}

void CommandBuffer::use_residency_sets(Object* const* sets, UInteger count) {
  for (UInteger i = 0; i < count; ++i) use_residency_set(sets[i]);
}

void CommandBuffer::add(Command command) {
  if (!is_committed()) commands_.push_back(std::move(command));
}

void CommandBuffer::keep(Object* object) {
  if (!is_committed()) kept_.emplace_back(object);
}

void CommandBuffer::keep(Resource* resource) {
  if (is_committed()) return;
  ++resource->pending_uses;
  resources_.emplace_back(resource);
}

void CommandBuffer::push_debug_group(String*) { ++debug_groups_; }

void CommandBuffer::pop_debug_group() {
  if (debug_groups_ == 0)
    report_misuse("popDebugGroup on " + describe() + ": no group is pushed");
  else
    --debug_groups_;
}

void CommandBuffer::make_invalid(const std::string& reason) {
  if (!invalid_)
    invalid_ = std::make_unique<Failure>(Failure{MTL::CommandBufferErrorInvalidResource, reason});
}

void CommandBuffer::add_scheduled_handler(const void* block) {
  if (is_committed())
    report_misuse("addScheduledHandler on " + describe() +
                  " after commit: it would never be called; add it before");
  else
    scheduled_handlers_.emplace_back(block);
}

void CommandBuffer::add_completed_handler(const void* block) {
  if (is_committed())
    report_misuse("addCompletedHandler on " + describe() +
                  " after commit: it may never be called; add it before");
  else
    completed_handlers_.emplace_back(block);
}

// --- Submission

void CommandBuffer::enqueue() {
  {
    std::lock_guard lock(mutex_);
    if (status_ != MTL::CommandBufferStatusNotEnqueued) return;
    status_ = MTL::CommandBufferStatusEnqueued;
  }
  queue_->enqueue(this);
}

void CommandBuffer::commit() {
  if (is_committed()) {
    report_misuse("commit twice on " + describe() +
                  "; a command buffer runs once, ask the queue for another");
    return;
  }
  if (open_encoder_) {
    report_misuse("commit of " + describe() + " with an open encoder; call its endEncoding first");
    make_invalid("an encoder was still open at commit");
  }
  enqueue();
  in_flight().add(queue_.get(), +1);
  set_status(MTL::CommandBufferStatusCommitted);
  queue_->committed();
}

void CommandBuffer::wait_until_scheduled() {
  if (!is_committed()) {
    report_misuse("waitUntilScheduled on " + describe() + " before commit: a device would wait for ever");
    return;
  }
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return status_ >= MTL::CommandBufferStatusScheduled; });
}

void CommandBuffer::wait_until_completed() {
  if (!is_committed()) {
    report_misuse("waitUntilCompleted on " + describe() + " before commit: a device would wait for ever");
    return;
  }
  // The handlers have been called as well when this returns; inside one of them that would be a wait for
  // itself.
  const bool in_handler = queue_->on_handler_thread();
  std::unique_lock lock(mutex_);
  changed_.wait(lock,
                [&] { return in_handler ? status_ >= MTL::CommandBufferStatusCompleted : handlers_called_; });
}

MTL::CommandBufferStatus CommandBuffer::status() const {
  std::lock_guard lock(mutex_);
  return status_;
}

Object* CommandBuffer::error() const {
  std::lock_guard lock(mutex_);
  return error_.get();
}

double CommandBuffer::gpu_start() const {
  std::lock_guard lock(mutex_);
  return gpu_start_;
}

double CommandBuffer::gpu_end() const {
  std::lock_guard lock(mutex_);
  return gpu_end_;
}

void CommandBuffer::set_status(MTL::CommandBufferStatus status) {
  {
    std::lock_guard lock(mutex_);
    status_ = status;
  }
  changed_.notify_all();
}

// --- Execution, on the queue's thread

void CommandBuffer::execute() {
  const auto pool = Ref<objc::AutoreleasePool>::adopt(objc::make<objc::AutoreleasePool>());
  set_status(MTL::CommandBufferStatusScheduled);
  if (!scheduled_handlers_.empty())
    queue_->post_to_handlers([self = Ref<CommandBuffer>(this)] { self->call(self->scheduled_handlers_); });
  const double start = seconds_now();
  {
    std::lock_guard lock(mutex_);
    gpu_start_ = start;
  }
  const auto fault = fault_of_next_command_buffer();
  auto failure = fault ? carry_out(*fault) : invalid_ ? std::move(invalid_) : run_commands();
  commands_.clear();
  if (!retained_references_) check_unretained();
  release_kept();
  finish(std::move(failure));
}

std::unique_ptr<Failure> CommandBuffer::run_commands() {
  for (const Command& command : commands_)
    if (auto failure = command()) return failure;
  return nullptr;
}

/// Without retained references the host promised to keep what it bound alive until now.
void CommandBuffer::check_unretained() const {
  for (const auto& resource : resources_)
    if (resource->references <= resource->pending_uses)
      report_misuse(resource->describe() +
                    " was released while a command buffer with unretained references used it; keep it "
                    "until the command buffer has completed");
}

void CommandBuffer::release_kept() {
  for (const auto& resource : resources_) --resource->pending_uses;
  resources_.clear();
  kept_.clear();
}

void CommandBuffer::finish(std::unique_ptr<Failure> failure) {
  const double end = seconds_now();
  {
    std::lock_guard lock(mutex_);
    gpu_end_ = end;
    if (failure)
      error_ = Ref<Error>::adopt(
          objc::make<Error>(error_domain, static_cast<objc::Integer>(failure->code), failure->message));
    status_ = failure ? MTL::CommandBufferStatusError : MTL::CommandBufferStatusCompleted;
  }
  changed_.notify_all();
  in_flight().add(queue_.get(), -1);
  queue_->forget_one();
  queue_->post_to_handlers([self = Ref<CommandBuffer>(this)]() mutable {
    self->call(self->completed_handlers_);
    {
      // Under the lock: the host may go on, and drop its reference, as soon as it is seen.
      std::lock_guard lock(self->mutex_);
      self->handlers_called_ = true;
      self->changed_.notify_all();
    }
  });
}

void CommandBuffer::call(std::vector<Handler>& handlers) {
  const auto pool = Ref<objc::AutoreleasePool>::adopt(objc::make<objc::AutoreleasePool>());
  for (const Handler& handler : handlers) handler(this);
  handlers.clear();
}

void register_command_buffer_classes() {
  objc::ClassBuilder<CommandBufferDescriptor>()
      .creatable()
      .copyable()
      .method<&CommandBufferDescriptor::retained_references>("retainedReferences")
      .method<&CommandBufferDescriptor::set_retained_references>("setRetainedReferences:")
      .method<&CommandBufferDescriptor::error_options>("errorOptions")
      .method<&CommandBufferDescriptor::set_error_options>("setErrorOptions:");
  using Buffer = CommandBuffer;
  objc::ClassBuilder<Buffer>()
      .method<&Buffer::device>("device")
      .method<&Buffer::get_label>("label")
      .method<&Buffer::set_label>("setLabel:")
      .method<&Buffer::queue>("commandQueue")
      .method<&Buffer::retained_references>("retainedReferences")
      .method<&Buffer::error_options>("errorOptions")
      .method<&Buffer::compute_encoder>("computeCommandEncoder")
      .method<&Buffer::compute_encoder_of_type>("computeCommandEncoderWithDispatchType:")
      .method<&Buffer::compute_encoder_from_descriptor>("computeCommandEncoderWithDescriptor:")
      .method<&Buffer::blit_encoder>("blitCommandEncoder")
      .method<&Buffer::encode_signal>("encodeSignalEvent:value:")
      .method<&Buffer::encode_wait>("encodeWaitForEvent:value:")
      .method<&Buffer::use_residency_set>("useResidencySet:")
      .method<&Buffer::use_residency_sets>("useResidencySets:count:")
      .method<&Buffer::add_scheduled_handler>("addScheduledHandler:")
      .method<&Buffer::add_completed_handler>("addCompletedHandler:")
      .method<&Buffer::push_debug_group>("pushDebugGroup:")
      .method<&Buffer::pop_debug_group>("popDebugGroup")
      .method<&Buffer::enqueue>("enqueue")
      .method<&Buffer::commit>("commit")
      .method<&Buffer::wait_until_scheduled>("waitUntilScheduled")
      .method<&Buffer::wait_until_completed>("waitUntilCompleted")
      .method<&Buffer::status>("status")
      .method<&Buffer::error>("error")
      .method<&Buffer::gpu_start>("GPUStartTime")
      .method<&Buffer::gpu_end>("GPUEndTime")
      .method<&Buffer::gpu_start>("kernelStartTime")
      .method<&Buffer::gpu_end>("kernelEndTime");
}

}  // namespace metalsim::device
