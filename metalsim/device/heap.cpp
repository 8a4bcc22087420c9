#include "device/heap.h"

#include "objc/class_builder.h"
#include "objc/misuse.h"

namespace metalsim::device {
namespace {

UInteger rounded(UInteger length) {
  return (length + Heap::alignment - 1) / Heap::alignment * Heap::alignment;
}

}  // namespace

Heap::Heap(Device* device, const HeapDescriptor& descriptor)
    : Allocation(device), options_(descriptor.options()), size_(descriptor.size()) {}

UInteger Heap::max_available(UInteger) const { return size_ > used_ ? size_ - used_ : 0; }

Object* Heap::new_buffer(UInteger length, MTL::ResourceOptions options) {
  if ((options >> 4 & 0xF) != storage_mode()) {
    report_misuse("newBuffer of a heap: storage mode " + std::to_string(options >> 4 & 0xF) +
                  ", the heap's is " + std::to_string(storage_mode()) + "; pass the heap's resourceOptions");
    return nullptr;
  }
  const UInteger bytes = rounded(length);
  if (length == 0 || bytes > max_available(alignment)) return nullptr;  // as on a device: the heap is full
  Buffer* const buffer = Buffer::create(owner(), length, options, false);
  if (!buffer) return nullptr;
  used_ += bytes;
  buffer->set_heap(this);
  return buffer;
}

Object* Heap::new_buffer_at(UInteger, MTL::ResourceOptions, UInteger) {
  report_misuse(
      "newBuffer at an offset of a heap: that needs a placement heap, which the simulator does not have");
  return nullptr;
}

void Heap::give_back(UInteger length) { used_ -= rounded(length); }

Object* Device::new_heap(Object* object) {
  const auto* const descriptor = dynamic_cast<HeapDescriptor*>(object);
  if (!descriptor || descriptor->size() == 0) {
    report_misuse("newHeap: needs a descriptor with a size above 0");
    return nullptr;
  }
  if (descriptor->type() != MTL::HeapTypeAutomatic) {
    report_misuse("newHeap: the simulator has automatic heaps only, neither placement nor sparse ones");
    return nullptr;
  }
  if (descriptor->size() > limits.memory_bytes) return nullptr;
  return objc::make<Heap>(this, *descriptor);
}

MTL::SizeAndAlign Device::heap_buffer_size(UInteger length, MTL::ResourceOptions) const {
  return {rounded(length), Heap::alignment};
}

void register_heap_classes() {
  objc::ClassBuilder<HeapDescriptor>()
      .creatable()
      .copyable()
      .method<&HeapDescriptor::cache_mode>("cpuCacheMode")
      .method<&HeapDescriptor::storage_mode>("storageMode")
      .method<&HeapDescriptor::hazard_tracking>("hazardTrackingMode")
      .method<&HeapDescriptor::options>("resourceOptions")
      .method<&HeapDescriptor::size>("size")
      .method<&HeapDescriptor::type>("type")
      .method<&HeapDescriptor::set_cache_mode>("setCpuCacheMode:")
      .method<&HeapDescriptor::set_storage_mode>("setStorageMode:")
      .method<&HeapDescriptor::set_hazard_tracking>("setHazardTrackingMode:")
      .method<&HeapDescriptor::set_options>("setResourceOptions:")
      .method<&HeapDescriptor::set_size>("setSize:")
      .method<&HeapDescriptor::set_type>("setType:");
  objc::ClassBuilder<Heap>("MTLAllocation")
      .method<&Heap::size>("size")
      .method<&Heap::used_size>("usedSize")
      .method<&Heap::size>("currentAllocatedSize")
      .method<&Heap::max_available>("maxAvailableSizeWithAlignment:")
      .method<&Heap::options>("resourceOptions")
      .method<&Heap::storage_mode>("storageMode")
      .method<&Heap::cache_mode>("cpuCacheMode")
      .method<&Heap::hazard_tracking>("hazardTrackingMode")
      .method<&Heap::type>("type")
      .method<&Heap::set_purgeable>("setPurgeableState:")
      .method<&Heap::new_buffer>("newBufferWithLength:options:")
      .method<&Heap::new_buffer_at>("newBufferWithLength:options:offset:");
}

}  // namespace metalsim::device
