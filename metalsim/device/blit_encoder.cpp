#include "device/blit_encoder.h"

#include <cstring>

#include "objc/class_builder.h"
#include "objc/misuse.h"

namespace metalsim::device {
namespace {

std::string range_text(UInteger offset, UInteger bytes) {
  return std::to_string(bytes) + " bytes at offset " + std::to_string(offset);
}

/// Why a range of a buffer cannot be copied or filled; empty if it can.
std::string check_range(const Buffer& buffer, UInteger offset, UInteger bytes) {
  if (bytes == 0) return "a range of 0 bytes";
  if (!buffer.contains(offset, bytes))
    return range_text(offset, bytes) + " pass the end of " + describe_buffer(&buffer);
  if (offset % Limits::copy_multiple != 0 || bytes % Limits::copy_multiple != 0)
    return range_text(offset, bytes) + " of " + describe_buffer(&buffer) +
           ": macOS needs multiples of 4 for both";
  return {};
}

}  // namespace

void BlitEncoder::refuse(const std::string& reason) {
  report_misuse(reason);
  buffer().make_invalid(reason);
}

void BlitEncoder::copy(Object* from, UInteger from_offset, Object* to, UInteger to_offset, UInteger bytes) {
  if (!check_open("copyFromBuffer")) return;
  auto* const source = dynamic_cast<Buffer*>(from);
  auto* const target = dynamic_cast<Buffer*>(to);
  if (!source || !target) {
    refuse("copyFromBuffer: the source or the destination is null");
    return;
  }
  for (const std::string& reason :
       {check_range(*source, from_offset, bytes), check_range(*target, to_offset, bytes)}) {
    if (reason.empty()) continue;
    refuse("copyFromBuffer: " + reason);
    return;
  }
  if (source == target && from_offset < to_offset + bytes && to_offset < from_offset + bytes) {
    refuse("copyFromBuffer: source and destination overlap in " + describe_buffer(source) +
           "; the result would be undefined, copy through another buffer");
    return;
  }
  buffer().keep(source);
  buffer().keep(target);
  counters_.bytes_copied += bytes;
  add([source = Ref<Buffer>(source), target = Ref<Buffer>(target), from_offset, to_offset,
       bytes]() -> std::unique_ptr<Failure> {
    memory_host_access(source->memory(), from_offset, bytes, false);
    std::memcpy(target->data() + to_offset, source->data() + from_offset, bytes);
    memory_host_access(target->memory(), to_offset, bytes, true);
    return nullptr;
  });
}

void BlitEncoder::fill(Object* object, objc::Range range, uint8_t value) {
  if (!check_open("fillBuffer")) return;
  auto* const target = dynamic_cast<Buffer*>(object);
  const std::string reason =
      target ? check_range(*target, range.location, range.length) : "the buffer is null";
  if (!reason.empty()) {
    refuse("fillBuffer: " + reason);
    return;
  }
  buffer().keep(target);
  counters_.bytes_filled += range.length;
  add([target = Ref<Buffer>(target), range, value]() -> std::unique_ptr<Failure> {
    std::memset(target->data() + range.location, value, range.length);
    memory_host_access(target->memory(), range.location, range.length, true);
    return nullptr;
  });
}

void BlitEncoder::synchronize(Object* object) {
  if (!check_open("synchronizeResource")) return;
  const auto* const resource = dynamic_cast<Resource*>(object);
  if (!resource)
    report_misuse("synchronizeResource: null");
  else if (resource->storage_mode() != MTL::StorageModeManaged)
    report_misuse("synchronizeResource on " + resource->describe() +
                  ": only managed storage needs and allows it");
}

void BlitEncoder::resolve_counters(Object*, objc::Range, Object*, UInteger) {
  report_misuse(
      "resolveCounters: this device has no counter sample buffers; supportsCounterSampling says so");
}

void register_blit_encoder_class() {
  objc::ClassBuilder<BlitEncoder>("MTLCommandEncoder")
      .method<&BlitEncoder::copy>("copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size:")
      .method<&BlitEncoder::fill>("fillBuffer:range:value:")
      .method<&BlitEncoder::synchronize>("synchronizeResource:")
      .method<&BlitEncoder::resolve_counters>("resolveCounters:inRange:destinationBuffer:destinationOffset:");
}

}  // namespace metalsim::device
