#include "device/command_queue.h"

#include <algorithm>

#include "device/command_buffer.h"
#include "objc/class_builder.h"
#include "objc/misuse.h"

namespace metalsim::device {

CommandQueue::CommandQueue(Device* device, UInteger max_command_buffers)
    : DeviceObject(device), max_unfinished_(max_command_buffers) {}

CommandBuffer* CommandQueue::create(bool retained) {
  wait_for_room();
  return objc::make_autoreleased<CommandBuffer>(this, retained);
}

/// As on a device, asking for one command buffer too many waits until another completes. If none of them was
/// committed, it would wait for ever; that is reported instead.
void CommandQueue::wait_for_room() {
  std::unique_lock lock(mutex_);
  while (unfinished_ >= max_unfinished_) {
    if (CommandBuffer::committed_of(this) == 0) {
      lock.unlock();
      report_misuse("commandBuffer() of " + describe() + ": " + std::to_string(max_unfinished_) +
                    " command buffers are not completed and none of them is committed, so a device would "
                    "wait for ever; commit "
                    "or release some, or ask newCommandQueue for more");
      lock.lock();
      break;
    }
    room_.wait(lock);
  }
  ++unfinished_;
}

void CommandQueue::forget_one() {
  {
    std::lock_guard lock(mutex_);
    --unfinished_;
  }
  room_.notify_all();
}

Object* CommandQueue::command_buffer() { return create(true); }
Object* CommandQueue::command_buffer_unretained() { return create(false); }

Object* CommandQueue::command_buffer_from_descriptor(Object* object) {
  const auto* const descriptor = dynamic_cast<CommandBufferDescriptor*>(object);
  return create(!descriptor || descriptor->retained_references());
}

void CommandQueue::enqueue(CommandBuffer* buffer) {
  std::lock_guard lock(mutex_);
  order_.emplace_back(buffer);
}

void CommandQueue::committed() {
  // The task holds a reference, so that a queue which the host has released still finishes its work.
  executor_.post([self = Ref<CommandQueue>(this)] { self->execute_ready(); });
}

void CommandQueue::execute_ready() {
  for (;;) {
    Ref<CommandBuffer> next;
    {
      std::lock_guard lock(mutex_);
      if (order_.empty() || !order_.front()->is_committed()) return;
      next = order_.front();
      order_.pop_front();
    }
    next->execute();
  }
}

void CommandQueue::add_residency_set(Object* object) {
  auto* const set = dynamic_cast<ResidencySet*>(object);
  if (!set) {
    report_misuse("CommandQueue::addResidencySet: null, or no residency set");
    return;
  }
  set->check_committed("CommandQueue::addResidencySet");
  std::lock_guard lock(mutex_);
  residency_sets_.emplace_back(set);
}

void CommandQueue::add_residency_sets(Object* const* sets, UInteger count) {
  for (UInteger i = 0; i < count; ++i) add_residency_set(sets[i]);
}

void CommandQueue::remove_residency_set(Object* set) {
  std::lock_guard lock(mutex_);
  const auto found = std::find_if(residency_sets_.begin(), residency_sets_.end(),
                                  [&](const auto& held) { return held.get() == set; });
  if (found != residency_sets_.end()) residency_sets_.erase(found);
}

void CommandQueue::remove_residency_sets(Object* const* sets, UInteger count) {
  for (UInteger i = 0; i < count; ++i) remove_residency_set(sets[i]);
}

Object* Device::new_command_queue() { return new_command_queue_of_size(Limits::command_buffers); }

Object* Device::new_command_queue_of_size(UInteger max_command_buffers) {
  if (max_command_buffers == 0) {
    report_misuse("newCommandQueue: a queue of 0 command buffers can hold no work");
    return nullptr;
  }
  return objc::make<CommandQueue>(this, max_command_buffers);
}

Object* Device::new_command_queue_from_descriptor(Object* object) {
  const auto* const descriptor = dynamic_cast<CommandQueueDescriptor*>(object);
  return new_command_queue_of_size(descriptor ? descriptor->max_command_buffers() : Limits::command_buffers);
}

void register_command_queue_classes() {
  objc::ClassBuilder<CommandQueueDescriptor>()
      .creatable()
      .copyable()
      .method<&CommandQueueDescriptor::max_command_buffers>("maxCommandBufferCount")
      .method<&CommandQueueDescriptor::set_max_command_buffers>("setMaxCommandBufferCount:");
  objc::ClassBuilder<CommandQueue>()
      .method<&CommandQueue::device>("device")
      .method<&CommandQueue::get_label>("label")
      .method<&CommandQueue::set_label>("setLabel:")
      .method<&CommandQueue::command_buffer>("commandBuffer")
      .method<&CommandQueue::command_buffer_unretained>("commandBufferWithUnretainedReferences")
      .method<&CommandQueue::command_buffer_from_descriptor>("commandBufferWithDescriptor:")
      .method<&CommandQueue::add_residency_set>("addResidencySet:")
      .method<&CommandQueue::add_residency_sets>("addResidencySets:count:")
      .method<&CommandQueue::remove_residency_set>("removeResidencySet:")
      .method<&CommandQueue::remove_residency_sets>("removeResidencySets:count:")
      .method<&CommandQueue::insert_capture_boundary>("insertDebugCaptureBoundary");
}

}  // namespace metalsim::device
