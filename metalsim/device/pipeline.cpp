#include "device/pipeline.h"

#include "device/block.h"
#include "device/task_thread.h"
#include "objc/class_builder.h"
#include "objc/misuse.h"

namespace metalsim::device {
namespace {

constexpr const char* error_domain = "MTLComputePipelineErrorDomain";
constexpr objc::Integer invalid_input = 3;

Object* fail(Error** error, const std::string& description, const std::string& suggestion) {
  objc::set_error(error, error_domain, invalid_input, description, suggestion);
  return nullptr;
}

/// Whether a pipeline can be made of the function; sets the error if not.
bool can_run(const Limits& limits, const Function& function, Error** error) {
  const std::string missing = function.missing_constant();
  if (!missing.empty()) {
    fail(error, "newComputePipelineState: " + missing, missing_constant_hint);
    return false;
  }
  const uint32_t bytes = *function.kernel->static_threadgroup_bytes;
  if (bytes > limits.threadgroup_bytes) {
    fail(error,
         "newComputePipelineState: kernel " + std::string(function.kernel->name) + " declares " +
             std::to_string(bytes) + " bytes of threadgroup memory; the device has " +
             std::to_string(limits.threadgroup_bytes),
         "use smaller arrays in the kernel");
    return false;
  }
  return true;
}

}  // namespace

Object* PipelineBufferDescriptorArray::object_at(UInteger index) {
  if (index >= items_.size()) {
    report_misuse("pipeline buffer descriptor " + std::to_string(index) + ": a kernel has buffers 0 to 30");
    return nullptr;
  }
  if (!items_[index])
    items_[index] = Ref<PipelineBufferDescriptor>::adopt(objc::make<PipelineBufferDescriptor>());
  return items_[index].get();
}

void PipelineBufferDescriptorArray::set_object(Object* buffer, UInteger index) {
  if (index < items_.size()) items_[index] = dynamic_cast<PipelineBufferDescriptor*>(buffer);
}

Object* ComputePipelineDescriptor::buffers() {
  if (!buffers_)
    buffers_ = Ref<PipelineBufferDescriptorArray>::adopt(objc::make<PipelineBufferDescriptorArray>());
  return buffers_.get();
}

void ComputePipelineDescriptor::reset() {
  label.clear();
  function_ = nullptr;
  buffers_ = nullptr;
  max_threads_ = 0;
  multiple_of_width_ = false;
  indirect_ = false;
  validation_ = MTL::ShaderValidationDefault;
}

Object* Device::new_pipeline(Object* object, Error** error) {
  if (error) *error = nullptr;
  const auto* const function = dynamic_cast<Function*>(object);
  if (!function)
    return fail(error, "newComputePipelineState: the function is null",
                "newFunction answers null for a name that the library lacks; check its result");
  if (!can_run(limits, *function, error)) return nullptr;
  return objc::make<ComputePipelineState>(this, *function, function->kernel->max_threads, false);
}

Object* Device::new_pipeline_with_options(Object* function, UInteger, void*, Error** error) {
  return new_pipeline(function, error);  // reflection is not offered: the place for it stays untouched
}

Object* Device::new_pipeline_from_descriptor(Object* object, UInteger, void*, Error** error) {
  if (error) *error = nullptr;
  const auto* const descriptor = dynamic_cast<ComputePipelineDescriptor*>(object);
  const auto* const function = descriptor ? dynamic_cast<Function*>(descriptor->function()) : nullptr;
  if (!function)
    return fail(error, "newComputePipelineState: the descriptor has no function",
                "call setComputeFunction on the descriptor");
  if (!can_run(limits, *function, error)) return nullptr;
  const UInteger asked = descriptor->max_threads();
  const UInteger allowed = function->kernel->max_threads;
  if (asked > Limits::threads_per_threadgroup)
    return fail(error,
                "newComputePipelineState: maxTotalThreadsPerThreadgroup " + std::to_string(asked) +
                    " of kernel " + function->kernel->name + "; the device allows " +
                    std::to_string(Limits::threads_per_threadgroup),
                "use smaller threadgroups");
  if (descriptor->indirect())
    return fail(error, "newComputePipelineState: the simulator has no indirect command buffers",
                "leave supportIndirectCommandBuffers false");
  auto* const state = objc::make<ComputePipelineState>(
      this, *function, asked ? std::min(asked, allowed) : allowed, descriptor->multiple_of_width());
  state->label = descriptor->label;
  return state;
}

void Device::new_pipeline_with_handler(Object* function, const void* handler) {
  auto block = std::make_shared<Block<Object*, Object*>>(handler);
  TaskThread::shared().post([self = Ref<Device>(this), function = Ref<Object>(function), block] {
    const auto pool = Ref<objc::AutoreleasePool>::adopt(objc::make<objc::AutoreleasePool>());
    Error* error = nullptr;
    const auto state = Ref<Object>::adopt(self->new_pipeline(function.get(), &error));
    (*block)(state.get(), error);
  });
}

void register_pipeline_classes() {
  using Descriptor = ComputePipelineDescriptor;
  objc::ClassBuilder<PipelineBufferDescriptor>()
      .creatable()
      .copyable()
      .method<&PipelineBufferDescriptor::mutability>("mutability")
      .method<&PipelineBufferDescriptor::set_mutability>("setMutability:");
  objc::ClassBuilder<PipelineBufferDescriptorArray>()
      .method<&PipelineBufferDescriptorArray::object_at>("objectAtIndexedSubscript:")
      .method<&PipelineBufferDescriptorArray::set_object>("setObject:atIndexedSubscript:");
  objc::ClassBuilder<Descriptor>()
      .creatable()
      .copyable()
      .method<&Descriptor::get_label>("label")
      .method<&Descriptor::set_label>("setLabel:")
      .method<&Descriptor::function>("computeFunction")
      .method<&Descriptor::set_function>("setComputeFunction:")
      .method<&Descriptor::max_threads>("maxTotalThreadsPerThreadgroup")
      .method<&Descriptor::set_max_threads>("setMaxTotalThreadsPerThreadgroup:")
      .method<&Descriptor::multiple_of_width>("threadGroupSizeIsMultipleOfThreadExecutionWidth")
      .method<&Descriptor::set_multiple_of_width>("setThreadGroupSizeIsMultipleOfThreadExecutionWidth:")
      .method<&Descriptor::validation>("shaderValidation")
      .method<&Descriptor::set_validation>("setShaderValidation:")
      .method<&Descriptor::indirect>("supportIndirectCommandBuffers")
      .method<&Descriptor::set_indirect>("setSupportIndirectCommandBuffers:")
      .method<&Descriptor::buffers>("buffers")
      .method<&Descriptor::reset>("reset");
  objc::ClassBuilder<ComputePipelineState>("MTLAllocation")
      .method<&ComputePipelineState::max_total_threads>("maxTotalThreadsPerThreadgroup")
      .method<&ComputePipelineState::thread_execution_width>("threadExecutionWidth")
      .method<&ComputePipelineState::static_threadgroup_memory>("staticThreadgroupMemoryLength")
      .method<&ComputePipelineState::resource_id>("gpuResourceID")
      .method<&ComputePipelineState::validation>("shaderValidation")
      .method<&ComputePipelineState::indirect>("supportIndirectCommandBuffers");
}

}  // namespace metalsim::device
