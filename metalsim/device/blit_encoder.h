// MTLBlitCommandEncoder: copies and fills of buffers.
#pragma once

#include "device/command_encoder.h"

namespace metalsim::device {

class BlitEncoder : public CommandEncoder {
 public:
  static constexpr const char* class_name = "MTLBlitCommandEncoder";
  explicit BlitEncoder(CommandBuffer* buffer) : CommandEncoder(buffer, "blit") {}

  void copy(Object* from, UInteger from_offset, Object* to, UInteger to_offset, UInteger bytes);
  void fill(Object* buffer, objc::Range range, uint8_t value);
  void synchronize(Object* resource);
  void resolve_counters(Object*, objc::Range, Object*, UInteger);

 private:
  void refuse(const std::string& reason);
};

void register_blit_encoder_class();

}  // namespace metalsim::device
