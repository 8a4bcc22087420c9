// MTLComputePipelineState and its descriptor.
#pragma once

#include <Metal/MTLComputePipeline.hpp>

#include <array>
#include <vector>

#include "device/buffer.h"
#include "device/library.h"

namespace metalsim::device {

class PipelineBufferDescriptor : public Object {
 public:
  static constexpr const char* class_name = "MTLPipelineBufferDescriptor";

  MTL::Mutability mutability() const { return mutability_; }
  void set_mutability(MTL::Mutability mutability) { mutability_ = mutability; }

 private:
  MTL::Mutability mutability_ = MTL::MutabilityDefault;
};

class PipelineBufferDescriptorArray : public Object {
 public:
  static constexpr const char* class_name = "MTLPipelineBufferDescriptorArray";

  Object* object_at(UInteger index);
  void set_object(Object* buffer, UInteger index);

 private:
  std::array<Ref<PipelineBufferDescriptor>, Limits::buffers> items_;
};

class ComputePipelineDescriptor : public Object {
 public:
  static constexpr const char* class_name = "MTLComputePipelineDescriptor";

  Object* get_label() const { return label.empty() ? nullptr : objc::string_from(label); }
  void set_label(String* text) { label = objc::to_std(text); }
  Object* function() const { return function_.get(); }
  void set_function(Object* function) { function_ = dynamic_cast<Function*>(function); }
  UInteger max_threads() const { return max_threads_; }
  void set_max_threads(UInteger threads) { max_threads_ = threads; }
  bool multiple_of_width() const { return multiple_of_width_; }
  void set_multiple_of_width(bool multiple) { multiple_of_width_ = multiple; }
  MTL::ShaderValidation validation() const { return validation_; }
  void set_validation(MTL::ShaderValidation validation) { validation_ = validation; }
  bool indirect() const { return indirect_; }
  void set_indirect(bool indirect) { indirect_ = indirect; }
  Object* buffers();
  void reset();

 private:
  Ref<Function> function_;
  Ref<PipelineBufferDescriptorArray> buffers_;
  UInteger max_threads_ = 0;  // 0: as many as the kernel allows
  bool multiple_of_width_ = false;
  bool indirect_ = false;
  MTL::ShaderValidation validation_ = MTL::ShaderValidationDefault;
};

class ComputePipelineState : public Allocation {
 public:
  static constexpr const char* class_name = "MTLComputePipelineState";
  ComputePipelineState(Device* device, const Function& function, UInteger threads, bool multiple)
      : Allocation(device),
        kernel(function.kernel),
        constants(function.constants),
        max_threads(threads),
        multiple_of_width(multiple) {}

  UInteger max_total_threads() const { return max_threads; }
  UInteger thread_execution_width() const { return Limits::simd_width; }
  UInteger static_threadgroup_memory() const { return *kernel->static_threadgroup_bytes; }
  MTL::ResourceID resource_id() const { return {reinterpret_cast<uint64_t>(this)}; }
  MTL::ShaderValidation validation() const { return MTL::ShaderValidationDefault; }
  bool indirect() const { return false; }

  const Kernel* const kernel;
  const std::vector<FunctionConstantValue> constants;
  const UInteger max_threads;
  const bool multiple_of_width;  // the host promised that of every threadgroup
};

void register_pipeline_classes();

}  // namespace metalsim::device
