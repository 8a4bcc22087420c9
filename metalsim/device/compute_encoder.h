// MTLComputeCommandEncoder.
#pragma once

#include <memory>
#include <vector>

#include "device/command_encoder.h"
#include "device/pipeline.h"
#include "runtime/dispatch.h"

namespace metalsim::device {

class ComputePassDescriptor : public Object {
 public:
  static constexpr const char* class_name = "MTLComputePassDescriptor";

  static ComputePassDescriptor* create() { return objc::make_autoreleased<ComputePassDescriptor>(); }
  MTL::DispatchType dispatch_type() const { return dispatch_type_; }
  void set_dispatch_type(MTL::DispatchType type) { dispatch_type_ = type; }

 private:
  MTL::DispatchType dispatch_type_ = MTL::DispatchTypeSerial;
};

class ComputeEncoder : public CommandEncoder {
 public:
  static constexpr const char* class_name = "MTLComputeCommandEncoder";
  ComputeEncoder(CommandBuffer* buffer, MTL::DispatchType type);

  MTL::DispatchType dispatch_type() const { return type_; }
  void set_pipeline(Object* pipeline);
  void set_buffer(Object* buffer, UInteger offset, UInteger index);
  void set_buffer_offset(UInteger offset, UInteger index);
  void set_buffers(Object* const* buffers, const UInteger* offsets, objc::Range range);
  void set_bytes(const void* bytes, UInteger length, UInteger index);
  void set_threadgroup_memory(UInteger length, UInteger index);
  void dispatch_threadgroups(MTL::Size groups, MTL::Size threads_per_group);
  void dispatch_threads(MTL::Size threads, MTL::Size threads_per_group);
  void dispatch_indirect(Object* buffer, UInteger offset, MTL::Size threads_per_group);
  void memory_barrier(MTL::BarrierScope scope);
  void memory_barrier_for(Object* const* resources, UInteger count);
  void use_resource(Object* resource, UInteger usage);
  void use_resources(Object* const* resources, UInteger count, UInteger usage);
  void use_heap(Object* heap);
  void use_heaps(Object* const* heaps, UInteger count);

 private:
  /// What setBuffer or setBytes put at an index.
  struct Slot {
    Ref<Buffer> buffer;
    UInteger offset = 0;
    std::shared_ptr<std::vector<unsigned char>> bytes;
  };

  /// One encoded dispatch with all that it refers to.
  struct Encoded;

  bool check_index(const char* what, UInteger index) const;
  std::string check_threads(MTL::Size threads_per_group) const;
  std::string check_threadgroup_memory() const;
  std::string check_bindings() const;
  std::shared_ptr<Encoded> encode(const char* what, MTL::Size threads_per_group);
  void bind(Encoded& encoded);
  void submit(std::shared_ptr<Encoded> encoded);
  void refuse(const char* what, const std::string& reason);
  void let_go() override;

  const MTL::DispatchType type_;
  Ref<ComputePipelineState> pipeline_;
  Slot slots_[Limits::buffers];
  UInteger threadgroup_bytes_[Limits::buffers] = {};
  std::shared_ptr<BarrierRegion> region_ = std::make_shared<BarrierRegion>();
};

void register_compute_encoder_classes();

}  // namespace metalsim::device
