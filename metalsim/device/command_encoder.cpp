#include "device/command_encoder.h"

#include "counters/device_counters.h"
#include "device/event.h"
#include "objc/class_builder.h"
#include "objc/misuse.h"

namespace metalsim::device {

CommandEncoder::CommandEncoder(CommandBuffer* buffer, const char* kind)
    : DeviceObject(buffer->owner()), buffer_(buffer), kind_(kind) {}

CommandEncoder::~CommandEncoder() {
  if (ended_) return;
  report_misuse(std::string(kind_) + " encoder" + (label.empty() ? "" : " \"" + label + "\"") +
                " is released before endEncoding; call endEncoding when all is encoded");
  buffer_->encoder_ended();
}

bool CommandEncoder::check_open(const char* what) {
  if (!ended_) return true;
  report_misuse(std::string(what) + " on " + describe() + " after endEncoding; begin another encoder");
  return false;
}

void CommandEncoder::end_encoding() {
  if (ended_) {
    report_misuse("endEncoding twice on " + describe());
    return;
  }
  if (!groups_.empty())
    report_misuse("endEncoding of " + describe() + ": debug group \"" + groups_.back() +
                  "\" is pushed but not popped");
  ended_ = true;
  counters_.label = label;
  add([counters = counters_]() -> std::unique_ptr<Failure> {
    count_encoder(counters);
    return nullptr;
  });
  buffer_->encoder_ended();
  let_go();
}

void CommandEncoder::push_debug_group(String* name) {
  if (check_open("pushDebugGroup")) groups_.push_back(objc::to_std(name));
}

void CommandEncoder::pop_debug_group() {
  if (!check_open("popDebugGroup")) return;
  if (groups_.empty()) {
    report_misuse("popDebugGroup on " + describe() + ": no group is pushed");
    return;
  }
  groups_.pop_back();
}

std::string CommandEncoder::place() const {
  std::string text = label;
  for (const std::string& group : groups_) text += (text.empty() ? "" : " / ") + group;
  return text;
}

void CommandEncoder::update_fence(Object* object) {
  auto* const fence = dynamic_cast<Fence*>(object);
  if (!check_open("updateFence") || !fence) return;
  fence->update();
  buffer_->keep(static_cast<Object*>(fence));
}

void CommandEncoder::wait_for_fence(Object* object) {
  const auto* const fence = dynamic_cast<Fence*>(object);
  if (!check_open("waitForFence") || !fence) return;
  fence->check_wait();
}

void CommandEncoder::sample_counters(Object*, UInteger, bool) {
  report_misuse(
      "sampleCountersInBuffer: this device has no counter sample buffers; supportsCounterSampling says so. "
      "Use "
      "metalsim::counters() instead");
}

void register_command_encoder_class() {
  objc::ClassBuilder<CommandEncoder>()
      .method<&CommandEncoder::device>("device")
      .method<&CommandEncoder::get_label>("label")
      .method<&CommandEncoder::set_label>("setLabel:")
      .method<&CommandEncoder::end_encoding>("endEncoding")
      .method<&CommandEncoder::push_debug_group>("pushDebugGroup:")
      .method<&CommandEncoder::pop_debug_group>("popDebugGroup")
      .method<&CommandEncoder::insert_signpost>("insertDebugSignpost:")
      .method<&CommandEncoder::update_fence>("updateFence:")
      .method<&CommandEncoder::wait_for_fence>("waitForFence:")
      .method<&CommandEncoder::sample_counters>("sampleCountersInBuffer:atSampleIndex:withBarrier:");
}

}  // namespace metalsim::device
