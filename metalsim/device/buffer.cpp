#include "device/buffer.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "counters/device_counters.h"
#include "device/faults.h"
#include "device/heap.h"
#include "metalsim/metalsim.h"
#include "objc/class_builder.h"
#include "objc/misuse.h"

namespace metalsim::device {
namespace {

/// Of this machine, not of the simulated one: host code asks the system for the size and aligns to that.
const size_t host_page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
constexpr size_t end_alignment = 64;

std::atomic<uint64_t> total_bytes{0};

size_t round_up(size_t n, size_t multiple) { return (n + multiple - 1) / multiple * multiple; }

/// What the limits say against a buffer of this length; empty if nothing.
std::string refusal(const Device& device, UInteger length) {
  if (length == 0) return "newBuffer: length 0; a buffer needs at least one byte";
  if (length > device.limits.buffer_bytes)
    return "newBuffer: " + std::to_string(length) + " bytes; maxBufferLength of this device is " +
           std::to_string(device.limits.buffer_bytes) + " (split the buffer, or set METALSIM_MEMORY)";
  return {};
}

/// Whether a buffer may be made now. Too little memory is no mistake of the host: newBuffer then answers null
/// without a report.
bool may_create(const Device& device, UInteger length) {
  const std::string reason = refusal(device, length);
  if (!reason.empty()) {
    report_misuse(reason);
    return false;
  }
  if (next_buffer_fails()) return false;
  return total_bytes + length <= device.limits.memory_bytes;
}

bool check_storage(MTL::ResourceOptions options) {
  const auto mode = options >> 4 & 0xF;
  if (mode <= MTL::StorageModePrivate) return true;
  report_misuse("newBuffer: storage mode " + std::to_string(mode) +
                " is for textures; use shared, managed or private");
  return false;
}

}  // namespace

uint64_t allocated_bytes() { return total_bytes; }

std::string describe_buffer(const Buffer* buffer) {
  return (buffer->label.empty() ? "buffer without label" : "buffer \"" + buffer->label + "\"") + " of " +
         std::to_string(buffer->length()) + " bytes";
}

MTL::HazardTrackingMode Resource::hazard_tracking() const {
  const auto mode = static_cast<MTL::HazardTrackingMode>(options_ >> 8 & 3);
  return mode == MTL::HazardTrackingModeDefault ? MTL::HazardTrackingModeTracked : mode;
}

Object* Resource::heap() const { return heap_.get(); }
void Resource::set_heap(Heap* heap) { heap_ = heap; }

MTL::PurgeableState Resource::set_purgeable(MTL::PurgeableState state) {
  if (state == MTL::PurgeableStateVolatile || state == MTL::PurgeableStateEmpty)
    report_misuse("setPurgeableState: the simulator never purges; contents of " + describe() + " stay");
  return MTL::PurgeableStateNonVolatile;
}

Buffer* Buffer::create(Device* device, UInteger length, MTL::ResourceOptions options, bool written) {
  const size_t pages = round_up(length, host_page);
  const size_t mapping_bytes = pages + 2 * host_page;
  void* const mapping =
      mmap(nullptr, mapping_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) return nullptr;
  auto* const first = static_cast<unsigned char*>(mapping) + host_page;
  if (mprotect(first, pages, PROT_READ | PROT_WRITE) != 0) {
    munmap(mapping, mapping_bytes);
    return nullptr;
  }
  auto* const buffer = objc::make<Buffer>(device, options);
  buffer->mapping_ = mapping;
  buffer->mapping_bytes_ = mapping_bytes;
  buffer->data_ = first + pages - round_up(length, end_alignment);
  buffer->length_ = length;
  buffer->memory_ = memory_create(buffer->data_, length, written);
  total_bytes += length;
  count_buffer_allocated(length);
  return buffer;
}

Buffer* Buffer::wrap(Device* device, void* bytes, UInteger length, MTL::ResourceOptions options,
                     Block<void*, UInteger> deallocator) {
  auto* const buffer = objc::make<Buffer>(device, options);
  buffer->data_ = static_cast<unsigned char*>(bytes);
  buffer->length_ = length;
  buffer->deallocator_ = std::move(deallocator);
  buffer->memory_ = memory_create(bytes, length, true);
  total_bytes += length;
  count_buffer_allocated(length);
  return buffer;
}

Buffer::~Buffer() {
  if (memory_) memory_destroy(memory_);
  total_bytes -= length_;
  count_buffer_released(length_);
  if (mapping_) munmap(mapping_, mapping_bytes_);
  if (deallocator_) deallocator_(data_, length_);
  if (auto* const from = dynamic_cast<Heap*>(heap())) from->give_back(length_);
}

UInteger Buffer::allocated_size() const { return mapping_ ? mapping_bytes_ - 2 * host_page : length_; }

void* Buffer::contents() {
  if (storage_mode() == MTL::StorageModePrivate) {
    report_misuse("contents() of " + describe_buffer(this) +
                  ", which has private storage: the host cannot reach it; copy with a blit encoder");
    return nullptr;
  }
  memory_mapped(memory_);
  return data_;
}

void Buffer::set_label(String* text) {
  DeviceObject::set_label(text);
  memory_set_label(memory_, label);
}

void Buffer::add_debug_marker(String* marker, objc::Range range) {
  if (!contains(range.location, range.length))
    report_misuse("addDebugMarker \"" + objc::to_std(marker) + "\": the range passes the end of " +
                  describe_buffer(this));
}

void Buffer::did_modify_range(objc::Range range) {
  if (storage_mode() != MTL::StorageModeManaged)
    report_misuse("didModifyRange on " + describe_buffer(this) +
                  ": only managed storage needs and allows it");
  else if (!contains(range.location, range.length))
    report_misuse("didModifyRange passes the end of " + describe_buffer(this));
}

Object* Device::new_buffer(UInteger length, MTL::ResourceOptions options) {
  if (!check_storage(options) || !may_create(*this, length)) return nullptr;
  return Buffer::create(this, length, options, false);
}

Object* Device::new_buffer_with_bytes(const void* bytes, UInteger length, MTL::ResourceOptions options) {
  if (!bytes) {
    report_misuse("newBuffer with bytes: the pointer is null");
    return nullptr;
  }
  if ((options >> 4 & 0xF) == MTL::StorageModePrivate) {
    report_misuse(
        "newBuffer with bytes: private storage cannot be filled by the host; fill a shared buffer and copy "
        "it");
    return nullptr;
  }
  if (!check_storage(options) || !may_create(*this, length)) return nullptr;
  Buffer* const buffer = Buffer::create(this, length, options, true);
  if (buffer) std::memcpy(buffer->data(), bytes, length);
  return buffer;
}

Object* Device::new_buffer_no_copy(void* bytes, UInteger length, MTL::ResourceOptions options,
                                   const void* deallocator) {
  const uintptr_t page = host_page;
  if (!bytes || reinterpret_cast<uintptr_t>(bytes) % page != 0) {
    report_misuse("newBuffer without copy: the pointer is not aligned to a page of " + std::to_string(page) +
                  " bytes; take the memory from mmap, or align it to the page size");
    return nullptr;
  }
  if (length % page != 0) {
    report_misuse("newBuffer without copy: length " + std::to_string(length) +
                  " is no multiple of the page size " + std::to_string(page) +
                  "; round it up, the pages are there anyway");
    return nullptr;
  }
  if ((options >> 4 & 0xF) == MTL::StorageModePrivate) {
    report_misuse("newBuffer without copy: private storage cannot wrap memory of the host; use shared");
    return nullptr;
  }
  if (!check_storage(options) || !may_create(*this, length)) return nullptr;
  return Buffer::wrap(this, bytes, length, options, Block<void*, UInteger>(deallocator));
}

void register_buffer_classes() {
  objc::ClassBuilder<Allocation>()
      .method<&Allocation::device>("device")
      .method<&Allocation::allocated_size>("allocatedSize")
      .method<&Allocation::get_label>("label")
      .method<&Allocation::set_label>("setLabel:");
  objc::ClassBuilder<Resource>("MTLAllocation")
      .method<&Resource::options>("resourceOptions")
      .method<&Resource::storage_mode>("storageMode")
      .method<&Resource::cache_mode>("cpuCacheMode")
      .method<&Resource::hazard_tracking>("hazardTrackingMode")
      .method<&Resource::heap>("heap")
      .method<&Resource::heap_offset>("heapOffset")
      .method<&Resource::is_aliasable>("isAliasable")
      .method<&Resource::set_purgeable>("setPurgeableState:");
  objc::ClassBuilder<Buffer>("MTLResource")
      .method<&Buffer::contents>("contents")
      .method<&Buffer::length>("length")
      .method<&Buffer::gpu_address>("gpuAddress")
      .method<&Buffer::set_label>("setLabel:")
      .method<&Buffer::add_debug_marker>("addDebugMarker:range:")
      .method<&Buffer::remove_all_debug_markers>("removeAllDebugMarkers")
      .method<&Buffer::did_modify_range>("didModifyRange:");
}

}  // namespace metalsim::device

namespace metalsim {
namespace {

/// The checker's record of an MTL::Buffer; null, with a report, if the pointer is none.
Memory* memory_of(const void* buffer, const char* what) {
  auto* const object = const_cast<objc::Object*>(static_cast<const objc::Object*>(buffer));
  auto* const found = dynamic_cast<device::Buffer*>(object);
  if (!found) report_misuse(std::string(what) + ": not an MTL::Buffer");
  return found ? found->memory() : nullptr;
}

}  // namespace

void narrow(const void* buffer, size_t offset, size_t bytes, const char* label) {
  if (Memory* const memory = memory_of(buffer, "metalsim::narrow"))
    memory_narrow(memory, offset, bytes, label ? label : "");
}

void mark_unwritten(const void* buffer, size_t offset, size_t bytes) {
  if (Memory* const memory = memory_of(buffer, "metalsim::mark_unwritten"))
    memory_mark_unwritten(memory, offset, bytes);
}

void mark_written(const void* buffer, size_t offset, size_t bytes) {
  if (Memory* const memory = memory_of(buffer, "metalsim::mark_written"))
    memory_mark_written(memory, offset, bytes);
}

}  // namespace metalsim
