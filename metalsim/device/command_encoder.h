// MTLCommandEncoder: what compute and blit encoders share.
#pragma once

#include <Metal/MTLCommandEncoder.hpp>

#include <string>
#include <vector>

#include "device/command_buffer.h"
#include "metalsim/metalsim.h"

namespace metalsim::device {

class CommandEncoder : public DeviceObject {
 public:
  static constexpr const char* class_name = "MTLCommandEncoder";
  CommandEncoder(CommandBuffer* buffer, const char* kind);
  ~CommandEncoder() override;

  void end_encoding();
  void push_debug_group(String* name);
  void pop_debug_group();
  void insert_signpost(String*) {}
  void update_fence(Object* fence);
  void wait_for_fence(Object* fence);
  void sample_counters(Object*, UInteger, bool);

 protected:
  /// endEncoding was called: references that only serve encoding can go.
  virtual void let_go() {}

  /// Whether `what` may be encoded now; otherwise a report says why not.
  bool check_open(const char* what);

  /// Encodes one step of this encoder.
  void add(CommandBuffer::Command command) { buffer_->add(std::move(command)); }

  /// Label of the encoder and the debug groups around, such as "layer 3 / attention".
  std::string place() const;

  CommandBuffer& buffer() { return *buffer_; }

  EncoderCounters counters_;

 private:
  Ref<CommandBuffer> buffer_;
  const char* kind_;
  bool ended_ = false;
  std::vector<std::string> groups_;
};

void register_command_encoder_class();

}  // namespace metalsim::device
