#include "device/compute_encoder.h"

#include <cstring>

#include "device/heap.h"
#include "objc/class_builder.h"
#include "objc/misuse.h"

namespace metalsim::device {

struct ComputeEncoder::Encoded {
  Dispatch dispatch;
  Ref<ComputePipelineState> pipeline;
  std::vector<std::shared_ptr<std::vector<unsigned char>>> bytes;  // of setBytes
  std::string label;
  std::shared_ptr<BarrierRegion> region;
  bool serial;
};

namespace {

std::string text_of(MTL::Size size) {
  return std::to_string(size.width) + "x" + std::to_string(size.height) + "x" + std::to_string(size.depth);
}

/// A grid dimension fits the 32 bits that kernels see.
bool fits(MTL::Size size) {
  return size.width <= UINT32_MAX && size.height <= UINT32_MAX && size.depth <= UINT32_MAX;
}

bool is_empty(MTL::Size size) { return size.width == 0 || size.height == 0 || size.depth == 0; }

void store(uint32_t (&to)[3], MTL::Size from) {
  to[0] = static_cast<uint32_t>(from.width);
  to[1] = static_cast<uint32_t>(from.height);
  to[2] = static_cast<uint32_t>(from.depth);
}

UInteger divide_up(UInteger a, UInteger b) { return (a + b - 1) / b; }

UInteger round_to_16(UInteger bytes) { return (bytes + 15) / 16 * 16; }

/// Runs a dispatch. One that made a report, or repeated an earlier one, fails its command buffer, as a fault
/// on a device would.
std::unique_ptr<Failure> run(Dispatch& dispatch, BarrierRegion& region, bool serial) {
  const auto before = reports();
  const bool clean = run_dispatch(dispatch, region);
  if (serial) region.barrier();
  if (clean) return nullptr;
  const auto after = reports();
  bool by_host = false;
  for (size_t i = 0; i < after.size(); ++i) {
    const bool made_now = i >= before.size() || after[i].times != before[i].times;
    if (!made_now) continue;
    if (after[i].kind == ReportKind::host_misuse) {  // the host may make mistakes meanwhile
      by_host = true;
      continue;
    }
    const bool page_fault = after[i].kind == ReportKind::device_out_of_bounds;
    return std::make_unique<Failure>(Failure{
        page_fault ? MTL::CommandBufferErrorPageFault : MTL::CommandBufferErrorInternal, after[i].text()});
  }
  if (by_host) return nullptr;
  return std::make_unique<Failure>(
      Failure{MTL::CommandBufferErrorInternal,
              "a kernel was stopped; the list of reports is full, so this one is not kept"});
}

}  // namespace

ComputeEncoder::ComputeEncoder(CommandBuffer* buffer, MTL::DispatchType type)
    : CommandEncoder(buffer, "compute"), type_(type) {}

// --- Arguments

bool ComputeEncoder::check_index(const char* what, UInteger index) const {
  if (index < Limits::buffers) return true;
  report_misuse(std::string(what) + " at index " + std::to_string(index) + "; a kernel has indices 0 to " +
                std::to_string(Limits::buffers - 1));
  return false;
}

void ComputeEncoder::set_pipeline(Object* object) {
  if (!check_open("setComputePipelineState")) return;
  auto* const pipeline = dynamic_cast<ComputePipelineState*>(object);
  if (!pipeline) {
    report_misuse("setComputePipelineState: null; newComputePipelineState failed earlier, look at its error");
    return;
  }
  pipeline_ = pipeline;
}

void ComputeEncoder::set_buffer(Object* object, UInteger offset, UInteger index) {
  if (!check_open("setBuffer") || !check_index("setBuffer", index)) return;
  auto* const buffer = dynamic_cast<Buffer*>(object);
  if (object && !buffer) {
    report_misuse("setBuffer at index " + std::to_string(index) + ": " + object->describe() +
                  " is no buffer");
    return;
  }
  if (buffer && offset >= buffer->length()) {
    report_misuse("setBuffer at index " + std::to_string(index) + ": offset " + std::to_string(offset) +
                  " is past the end of " + describe_buffer(buffer));
    return;
  }
  slots_[index] = {buffer, offset, nullptr};
}

void ComputeEncoder::set_buffer_offset(UInteger offset, UInteger index) {
  if (!check_open("setBufferOffset") || !check_index("setBufferOffset", index)) return;
  Slot& slot = slots_[index];
  if (!slot.buffer) {
    report_misuse("setBufferOffset at index " + std::to_string(index) +
                  ": no buffer is bound there; call setBuffer first");
  } else if (offset >= slot.buffer->length()) {
    report_misuse("setBufferOffset at index " + std::to_string(index) + ": offset " + std::to_string(offset) +
                  " is past the end of " + describe_buffer(slot.buffer.get()));
  } else {
    slot.offset = offset;
  }
}

void ComputeEncoder::set_buffers(Object* const* buffers, const UInteger* offsets, objc::Range range) {
  for (UInteger i = 0; i < range.length; ++i) set_buffer(buffers[i], offsets[i], range.location + i);
}

void ComputeEncoder::set_bytes(const void* bytes, UInteger length, UInteger index) {
  if (!check_open("setBytes") || !check_index("setBytes", index)) return;
  if (!bytes || length == 0 || length > Limits::set_bytes) {
    report_misuse("setBytes at index " + std::to_string(index) + ": " +
                  (bytes ? std::to_string(length) + " bytes; 1 to 4096 are allowed, use a buffer for more"
                         : "null pointer"));
    return;
  }
  const auto* const first = static_cast<const unsigned char*>(bytes);
  slots_[index] = {nullptr, 0, std::make_shared<std::vector<unsigned char>>(first, first + length)};
}

void ComputeEncoder::set_threadgroup_memory(UInteger length, UInteger index) {
  if (!check_open("setThreadgroupMemoryLength") || !check_index("setThreadgroupMemoryLength", index)) return;
  if (length % Limits::threadgroup_bytes_multiple != 0) {
    report_misuse("setThreadgroupMemoryLength at index " + std::to_string(index) + ": " +
                  std::to_string(length) + " bytes is no multiple of 16; round up to " +
                  std::to_string(round_to_16(length)));
    length = round_to_16(length);
  }
  threadgroup_bytes_[index] = length;
}

// --- Dispatches

std::string ComputeEncoder::check_threads(MTL::Size threads) const {
  if (is_empty(threads)) return "a threadgroup of " + text_of(threads) + " has no threads";
  const UInteger limit = pipeline_->max_threads;
  // The largest size first: the product of three large numbers would overflow.
  const bool too_many = threads.width > limit || threads.height > limit || threads.depth > limit ||
                        threads.width * threads.height * threads.depth > limit;
  if (too_many)
    return "a threadgroup of " + text_of(threads) +
           " has more threads than the pipeline's maxTotalThreadsPerThreadgroup, " + std::to_string(limit);
  const UInteger count = threads.width * threads.height * threads.depth;
  if (pipeline_->multiple_of_width && count % Limits::simd_width != 0)
    return "a threadgroup of " + text_of(threads) +
           " is no multiple of 32 threads, though threadGroupSizeIsMultipleOfThreadExecutionWidth was set";
  return {};
}

std::string ComputeEncoder::check_threadgroup_memory() const {
  const UInteger in_kernel = pipeline_->static_threadgroup_memory();
  UInteger total = in_kernel;
  for (UInteger i = 0; i < Limits::buffers; ++i) {
    if (!(pipeline_->kernel->threadgroup_arguments >> i & 1)) continue;
    if (threadgroup_bytes_[i] == 0)
      return "threadgroup memory " + std::to_string(i) + " has no length; call setThreadgroupMemoryLength";
    total += threadgroup_bytes_[i];
  }
  const uint64_t limit = owner()->limits.threadgroup_bytes;
  if (total > limit)
    return std::to_string(total) + " bytes of threadgroup memory" +
           (in_kernel ? " (" + std::to_string(in_kernel) + " of them declared in the kernel)" : "") +
           "; the device has " + std::to_string(limit);
  return {};
}

std::string ComputeEncoder::check_bindings() const {
  for (UInteger i = 0; i < Limits::buffers; ++i) {
    if (!(pipeline_->kernel->buffers >> i & 1)) continue;
    const Slot& slot = slots_[i];
    if (!slot.buffer && !slot.bytes && (pipeline_->kernel->conditional >> i & 1)) continue;
    if (!slot.buffer && !slot.bytes)
      return "buffer " + std::to_string(i) + " is not bound; call setBuffer or setBytes";
    const UInteger bound = slot.bytes ? slot.bytes->size() : slot.buffer->length() - slot.offset;
    const UInteger needed = pipeline_->kernel->element_bytes[i];
    if (bound < needed)
      return "buffer " + std::to_string(i) + " has " + std::to_string(bound) +
             " bytes from its offset on, one element has " + std::to_string(needed) +
             "; host and kernel disagree about the structure";
    if (slot.bytes && (pipeline_->kernel->writable >> i & 1))
      return "buffer " + std::to_string(i) +
             " is setBytes data, but the kernel's parameter is writable; use a buffer";
  }
  return {};
}

void ComputeEncoder::refuse(const char* what, const std::string& reason) {
  const std::string kernel =
      pipeline_ ? std::string("kernel ") + pipeline_->kernel->name + ": " : std::string();
  report_misuse(std::string(what) + ": " + kernel + reason);
  buffer().make_invalid(kernel + reason);
}

/// Checks the state that all kinds of dispatch need and takes a copy of it. Null, with a report, if it cannot
/// run.
std::shared_ptr<ComputeEncoder::Encoded> ComputeEncoder::encode(const char* what,
                                                                MTL::Size threads_per_group) {
  if (!check_open(what)) return nullptr;
  if (!pipeline_) {
    refuse(what, "no pipeline state is set; call setComputePipelineState first");
    return nullptr;
  }
  for (const std::string& reason :
       {check_threads(threads_per_group), check_threadgroup_memory(), check_bindings()}) {
    if (reason.empty()) continue;
    refuse(what, reason);
    return nullptr;
  }
  auto encoded = std::make_shared<Encoded>();
  encoded->pipeline = pipeline_;
  encoded->label = place();
  encoded->region = region_;
  encoded->serial = type_ == MTL::DispatchTypeSerial;
  Dispatch& dispatch = encoded->dispatch;
  dispatch.kernel = pipeline_->kernel;
  dispatch.constants = pipeline_->constants.data();
  dispatch.label = encoded->label.c_str();
  store(dispatch.threads_per_group, threads_per_group);
  bind(*encoded);
  return encoded;
}

void ComputeEncoder::bind(Encoded& encoded) {
  const Kernel& kernel = *pipeline_->kernel;
  for (UInteger i = 0; i < Limits::buffers; ++i) {
    encoded.dispatch.threadgroup_bytes[i] = static_cast<uint32_t>(threadgroup_bytes_[i]);
    if (!(kernel.buffers >> i & 1)) continue;
    const Slot& slot = slots_[i];
    Binding& binding = encoded.dispatch.buffers[i];
    if (slot.bytes) {
      binding.data = slot.bytes->data();
      binding.bytes = slot.bytes->size();
      binding.constant_bytes = true;
      encoded.bytes.push_back(slot.bytes);
    } else if (slot.buffer) {  // else a function constant can switch the parameter off: it is null
      memory_bind(slot.buffer->memory(), slot.offset, kernel.writable >> i & 1, binding);
      buffer().keep(slot.buffer.get());
    }
  }
}

void ComputeEncoder::submit(std::shared_ptr<Encoded> encoded) {
  ++counters_.dispatches;
  add([encoded]() -> std::unique_ptr<Failure> {
    return run(encoded->dispatch, *encoded->region, encoded->serial);
  });
}

void ComputeEncoder::dispatch_threadgroups(MTL::Size groups, MTL::Size threads_per_group) {
  constexpr const char* what = "dispatchThreadgroups";
  auto encoded = encode(what, threads_per_group);
  if (!encoded) return;
  if (is_empty(groups) || !fits(groups)) {
    refuse(what, "a grid of " + text_of(groups) + " threadgroups; each size must be 1 to 4294967295");
    return;
  }
  store(encoded->dispatch.groups, groups);
  submit(std::move(encoded));
}

void ComputeEncoder::dispatch_threads(MTL::Size threads, MTL::Size threads_per_group) {
  constexpr const char* what = "dispatchThreads";
  auto encoded = encode(what, threads_per_group);
  if (!encoded) return;
  if (is_empty(threads) || !fits(threads)) {
    refuse(what, "a grid of " + text_of(threads) + " threads; each size must be 1 to 4294967295");
    return;
  }
  store(encoded->dispatch.threads, threads);
  store(encoded->dispatch.groups, {divide_up(threads.width, threads_per_group.width),
                                   divide_up(threads.height, threads_per_group.height),
                                   divide_up(threads.depth, threads_per_group.depth)});
  submit(std::move(encoded));
}

void ComputeEncoder::dispatch_indirect(Object* object, UInteger offset, MTL::Size threads_per_group) {
  constexpr const char* what = "dispatchThreadgroups with an indirect buffer";
  constexpr UInteger argument_bytes = 3 * sizeof(uint32_t);
  auto encoded = encode(what, threads_per_group);
  if (!encoded) return;
  auto* const source = dynamic_cast<Buffer*>(object);
  if (!source || offset % sizeof(uint32_t) != 0 || !source->contains(offset, argument_bytes)) {
    refuse(what, source ? "12 bytes at offset " + std::to_string(offset) + " do not lie within " +
                              describe_buffer(source) + ", or the offset is no multiple of 4"
                        : "the indirect buffer is null");
    return;
  }
  buffer().keep(source);
  ++counters_.dispatches;
  add([encoded, source = Ref<Buffer>(source), offset]() -> std::unique_ptr<Failure> {
    memory_host_access(source->memory(), offset, argument_bytes, false);
    std::memcpy(encoded->dispatch.groups, source->data() + offset, argument_bytes);
    const uint32_t* const groups = encoded->dispatch.groups;
    if (groups[0] == 0 || groups[1] == 0 || groups[2] == 0) return nullptr;  // an empty grid is allowed here
    return run(encoded->dispatch, *encoded->region, encoded->serial);
  });
}

void ComputeEncoder::let_go() {
  pipeline_ = nullptr;
  for (Slot& slot : slots_) slot = {};
}

// --- Order and residency

void ComputeEncoder::memory_barrier(MTL::BarrierScope scope) {
  if (!check_open("memoryBarrier")) return;
  if (!(scope & MTL::BarrierScopeBuffers)) return;  // the simulator has neither textures nor render targets
  ++counters_.barriers;
  add([region = region_]() -> std::unique_ptr<Failure> {
    region->barrier();
    return nullptr;
  });
}

void ComputeEncoder::memory_barrier_for(Object* const* resources, UInteger count) {
  if (!check_open("memoryBarrier")) return;
  std::vector<Ref<Buffer>> buffers;
  for (UInteger i = 0; i < count; ++i) {
    auto* const named = dynamic_cast<Buffer*>(resources[i]);
    if (named)
      buffers.emplace_back(named);
    else
      report_misuse("memoryBarrier: resource " + std::to_string(i) + " of " + std::to_string(count) +
                    " is null or no buffer");
  }
  ++counters_.barriers;
  add([buffers]() -> std::unique_ptr<Failure> {
    for (const auto& named : buffers) metalsim::memory_barrier(named->memory());
    return nullptr;
  });
}

void ComputeEncoder::use_resource(Object* object, UInteger usage) {
  if (!check_open("useResource")) return;
  auto* const resource = dynamic_cast<Resource*>(object);
  if (!resource)
    report_misuse("useResource: null");
  else if (!(usage & (MTL::ResourceUsageRead | MTL::ResourceUsageWrite)))
    report_misuse("useResource: usage " + std::to_string(usage) + " names neither read nor write");
  else
    buffer().keep(resource);
}

void ComputeEncoder::use_resources(Object* const* resources, UInteger count, UInteger usage) {
  for (UInteger i = 0; i < count; ++i) use_resource(resources[i], usage);
}

void ComputeEncoder::use_heap(Object* heap) {
  if (!check_open("useHeap")) return;
  if (!dynamic_cast<Heap*>(heap))
    report_misuse("useHeap: null, or no heap");
  else
    buffer().keep(heap);
}

void ComputeEncoder::use_heaps(Object* const* heaps, UInteger count) {
  for (UInteger i = 0; i < count; ++i) use_heap(heaps[i]);
}

void register_compute_encoder_classes() {
  objc::ClassBuilder<ComputePassDescriptor>()
      .creatable()
      .copyable()
      .class_method<&ComputePassDescriptor::create>("computePassDescriptor")
      .method<&ComputePassDescriptor::dispatch_type>("dispatchType")
      .method<&ComputePassDescriptor::set_dispatch_type>("setDispatchType:");
  objc::ClassBuilder<ComputeEncoder>("MTLCommandEncoder")
      .method<&ComputeEncoder::dispatch_type>("dispatchType")
      .method<&ComputeEncoder::set_pipeline>("setComputePipelineState:")
      .method<&ComputeEncoder::set_buffer>("setBuffer:offset:atIndex:")
      .method<&ComputeEncoder::set_buffer_offset>("setBufferOffset:atIndex:")
      .method<&ComputeEncoder::set_buffers>("setBuffers:offsets:withRange:")
      .method<&ComputeEncoder::set_bytes>("setBytes:length:atIndex:")
      .method<&ComputeEncoder::set_threadgroup_memory>("setThreadgroupMemoryLength:atIndex:")
      .method<&ComputeEncoder::dispatch_threadgroups>("dispatchThreadgroups:threadsPerThreadgroup:")
      .method<&ComputeEncoder::dispatch_threads>("dispatchThreads:threadsPerThreadgroup:")
      .method<&ComputeEncoder::dispatch_indirect>(
          "dispatchThreadgroupsWithIndirectBuffer:indirectBufferOffset:threadsPerThreadgroup:")
      .method<&ComputeEncoder::memory_barrier>("memoryBarrierWithScope:")
      .method<&ComputeEncoder::memory_barrier_for>("memoryBarrierWithResources:count:")
      .method<&ComputeEncoder::use_resource>("useResource:usage:")
      .method<&ComputeEncoder::use_resources>("useResources:count:usage:")
      .method<&ComputeEncoder::use_heap>("useHeap:")
      .method<&ComputeEncoder::use_heaps>("useHeaps:count:");
}

}  // namespace metalsim::device
