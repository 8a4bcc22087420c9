#include "device/device.h"

#include <time.h>

#include <cstdio>
#include <cstdlib>

#include "device/buffer.h"
#include "device/faults.h"
#include "objc/class_builder.h"

namespace metalsim::device {
namespace {

struct Current {
  std::mutex mutex;
  Device* device = nullptr;
};

Current& current() {
  static auto* const instance = new Current;
  return *instance;
}

Device* create() {
  Limits limits;
  std::string problem;
  if (!read_limits(limits, problem) || !read_faults(problem)) {
    std::fprintf(stderr, "metalsim: no device: %s\n", problem.c_str());
    return nullptr;
  }
  return objc::make<Device>(limits);
}

void print_leaks_at_exit() {
  if (!std::getenv("METALSIM_LEAKS")) return;
  std::atexit([] {
    const auto alive = live_objects();
    std::fprintf(stderr, "metalsim: %zu objects are alive at the end of the program\n", alive.size());
    for (const std::string& object : alive) std::fprintf(stderr, "  %s\n", object.c_str());
  });
}

}  // namespace

Device* Device::create_system_default() {
  Current& shared = current();
  std::lock_guard lock(shared.mutex);
  if (!shared.device) {
    shared.device = create();
    if (!shared.device) return nullptr;
    objc::make_immortal(shared.device);  // the machine's GPU does not go away either
    print_leaks_at_exit();
  }
  return shared.device;
}

Object* Device::name() const {
  std::string family = limits.family_name;
  family[0] = 'A';
  return objc::string_from("metalsim " + family);
}

MTL::Size Device::max_threads_per_threadgroup() const {
  constexpr UInteger limit = Limits::threads_per_threadgroup;
  return {limit, limit, limit};
}

UInteger Device::current_allocated_size() const { return allocated_bytes(); }

void Device::sample_timestamps(uint64_t* cpu, uint64_t* gpu) const {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const auto nanoseconds =
      static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
  if (cpu) *cpu = nanoseconds;
  if (gpu) *gpu = nanoseconds;
}

void register_device_class() {
  objc::ClassBuilder<Device>()
      .method<&Device::name>("name")
      .method<&Device::has_unified_memory>("hasUnifiedMemory")
      .method<&Device::supports_family>("supportsFamily:")
      .method<&Device::max_threadgroup_memory>("maxThreadgroupMemoryLength")
      .method<&Device::max_threads_per_threadgroup>("maxThreadsPerThreadgroup")
      .method<&Device::max_buffer_length>("maxBufferLength")
      .method<&Device::recommended_working_set>("recommendedMaxWorkingSetSize")
      .method<&Device::current_allocated_size>("currentAllocatedSize")
      .method<&Device::registry_id>("registryID")
      .method<&Device::max_transfer_rate>("maxTransferRate")
      .method<&Device::location>("location")
      .method<&Device::argument_buffers>("argumentBuffersSupport")
      .method<&Device::is_headless>("isHeadless")
      .method<&Device::is_low_power>("isLowPower")
      .method<&Device::is_removable>("isRemovable")
      .method<&Device::supports_ray_tracing>("supportsRaytracing")
      .method<&Device::not_supported>("supports32BitFloatFiltering")
      .method<&Device::not_supported>("supportsDynamicLibraries")
      .method<&Device::not_supported>("supportsFunctionPointers")
      .method<&Device::sample_timestamps>("sampleTimestamps:gpuTimestamp:")
      .method<&Device::new_buffer>("newBufferWithLength:options:")
      .method<&Device::new_buffer_with_bytes>("newBufferWithBytes:length:options:")
      .method<&Device::new_buffer_no_copy>("newBufferWithBytesNoCopy:length:options:deallocator:")
      .method<&Device::new_heap>("newHeapWithDescriptor:")
      .method<&Device::heap_buffer_size>("heapBufferSizeAndAlignWithLength:options:")
      .method<&Device::new_residency_set>("newResidencySetWithDescriptor:error:")
      .method<&Device::new_default_library>("newDefaultLibrary")
      .method<&Device::new_default_library_of_bundle>("newDefaultLibraryWithBundle:error:")
      .method<&Device::new_library_from_file>("newLibraryWithFile:error:")
      .method<&Device::new_library_from_url>("newLibraryWithURL:error:")
      .method<&Device::new_library_from_source>("newLibraryWithSource:options:error:")
      .method<&Device::new_pipeline>("newComputePipelineStateWithFunction:error:")
      .method<&Device::new_pipeline_with_options>(
          "newComputePipelineStateWithFunction:options:reflection:error:")
      .method<&Device::new_pipeline_from_descriptor>(
          "newComputePipelineStateWithDescriptor:options:reflection:error:")
      .method<&Device::new_pipeline_with_handler>("newComputePipelineStateWithFunction:completionHandler:")
      .method<&Device::new_command_queue>("newCommandQueue")
      .method<&Device::new_command_queue_of_size>("newCommandQueueWithMaxCommandBufferCount:")
      .method<&Device::new_command_queue_from_descriptor>("newCommandQueueWithDescriptor:")
      .method<&Device::new_event>("newEvent")
      .method<&Device::new_shared_event>("newSharedEvent")
      .method<&Device::new_fence>("newFence")
      .method<&Device::counter_sets>("counterSets")
      .method<&Device::supports_counter_sampling>("supportsCounterSampling:")
      .method<&Device::new_counter_sample_buffer>("newCounterSampleBufferWithDescriptor:error:");
}

}  // namespace metalsim::device

namespace metalsim {

std::vector<std::string> live_objects() { return objc::living_objects(); }

}  // namespace metalsim

extern "C" {

MTL::Device* MTLCreateSystemDefaultDevice() {
  return reinterpret_cast<MTL::Device*>(metalsim::device::Device::create_system_default());
}

NS::Array* MTLCopyAllDevices() {
  auto* const devices = metalsim::objc::make<metalsim::objc::Array>();
  if (auto* const device = metalsim::device::Device::create_system_default())
    devices->items.emplace_back(device);
  return reinterpret_cast<NS::Array*>(devices);
}

}  // extern "C"
