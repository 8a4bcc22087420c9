// Buffers, heaps, residency sets, and the device's facts.
#include <sys/mman.h>
#include <unistd.h>

#include "host.h"

namespace {

size_t page() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }

/// Pages of the host, for buffers that wrap them.
struct Pages {
  explicit Pages(size_t count)
      : bytes(count * page()),
        data(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {}
  ~Pages() { munmap(data, bytes); }
  size_t bytes;
  void* data;
};

}  // namespace

TEST_CASE("the device says what an Apple GPU of the default family says") {
  Host host;
  const auto& device = host.device;
  CHECK(contains(device->name()->utf8String(), "metalsim"));
  CHECK(device->hasUnifiedMemory());
  CHECK(device->supportsFamily(MTL::GPUFamilyApple7));
  CHECK(device->supportsFamily(MTL::GPUFamilyMetal3));
  CHECK_FALSE(device->supportsFamily(MTL::GPUFamilyApple8));
  CHECK_FALSE(device->supportsFamily(MTL::GPUFamilyMetal4));
  CHECK(device->maxThreadgroupMemoryLength() == 32768);
  const MTL::Size threads =
      device->maxThreadsPerThreadgroup();  // a structure returned through a hidden pointer
  CHECK(threads.width == 1024);
  CHECK(threads.height == 1024);
  CHECK(threads.depth == 1024);
  CHECK(device->maxBufferLength() >= (size_t{1} << 30));
  CHECK(device->recommendedMaxWorkingSetSize() >= device->maxBufferLength());
  CHECK(MTL::CreateSystemDefaultDevice() == device.get());
  const auto all = NS::TransferPtr(MTL::CopyAllDevices());
  if (all) CHECK(all->count() == 1);  // Apple's headers ask for the list on a Mac only
}

TEST_CASE("a new buffer is zeroed, sized and counted") {
  Host host;
  const size_t before = host.device->currentAllocatedSize();
  auto buffer = NS::TransferPtr(host.device->newBuffer(1000, MTL::ResourceStorageModeShared));
  CHECK(buffer->length() == 1000);
  CHECK(host.device->currentAllocatedSize() == before + 1000);
  CHECK(buffer->allocatedSize() >= 1000);
  CHECK(buffer->storageMode() == MTL::StorageModeShared);
  CHECK(buffer->gpuAddress() != 0);
  for (int i = 0; i < 1000; ++i) REQUIRE(Host::data<char>(buffer)[i] == 0);
  buffer->setLabel(text("x"));
  CHECK(buffer->label()->isEqualToString(text("x")));
  CHECK(buffer->device() == host.device.get());
  buffer.reset();
  CHECK(host.device->currentAllocatedSize() == before);
}

TEST_CASE("a buffer made from bytes has them") {
  Host host;
  const float values[] = {1, 2, 3};
  const auto buffer =
      NS::TransferPtr(host.device->newBuffer(values, sizeof values, MTL::ResourceStorageModeShared));
  CHECK(std::memcmp(buffer->contents(), values, sizeof values) == 0);
}

TEST_CASE("a buffer wraps the host's pages, and rejects what are none") {
  Host host;
  Pages pages(2);
  auto* const bytes = static_cast<char*>(pages.data);
  const auto wrapped =
      NS::TransferPtr(host.device->newBuffer(bytes, pages.bytes, MTL::ResourceStorageModeShared, nullptr));
  CHECK(wrapped->contents() == bytes);
  MTL::Buffer* none = nullptr;
  CHECK_MISUSE(none = host.device->newBuffer(bytes + 16, page(), MTL::ResourceStorageModeShared, nullptr),
               "not aligned to a page");
  CHECK(none == nullptr);
  CHECK_MISUSE(none = host.device->newBuffer(bytes, 100, MTL::ResourceStorageModeShared, nullptr),
               "no multiple of the page size");
  CHECK_MISUSE(none = host.device->newBuffer(bytes, page(), MTL::ResourceStorageModePrivate, nullptr),
               "private storage");
  CHECK(none == nullptr);
}

TEST_CASE("lengths outside the limits are refused") {
  Host host;
  MTL::Buffer* none = nullptr;
  CHECK_MISUSE(none = host.device->newBuffer(0, MTL::ResourceStorageModeShared), "length 0");
  const size_t too_long = host.device->maxBufferLength() + 1;
  CHECK_MISUSE(none = host.device->newBuffer(too_long, MTL::ResourceStorageModeShared), "maxBufferLength");
  CHECK(none == nullptr);
}

TEST_CASE("newBuffer answers null without a report when memory is gone or a fault is planned") {
  Host host;
  const size_t half = host.device->maxBufferLength();
  const auto first = NS::TransferPtr(host.device->newBuffer(half, MTL::ResourceStorageModePrivate));
  const auto second =
      NS::TransferPtr(host.device->newBuffer(half - 4096 * 4096, MTL::ResourceStorageModePrivate));
  CHECK(first);
  CHECK(second);
  CHECK_FALSE(NS::TransferPtr(host.device->newBuffer(half, MTL::ResourceStorageModePrivate)));
  metalsim::inject_fault({metalsim::FaultKind::no_buffer, 2});
  CHECK(NS::TransferPtr(host.device->newBuffer(16, MTL::ResourceStorageModeShared)));
  CHECK_FALSE(NS::TransferPtr(host.device->newBuffer(16, MTL::ResourceStorageModeShared)));
  CHECK(NS::TransferPtr(host.device->newBuffer(16, MTL::ResourceStorageModeShared)));
  CHECK(take_reports().empty());
}

TEST_CASE("private storage is out of the host's reach") {
  Host host;
  const auto buffer = NS::TransferPtr(host.device->newBuffer(64, MTL::ResourceStorageModePrivate));
  CHECK(buffer->storageMode() == MTL::StorageModePrivate);
  void* contents = nullptr;
  CHECK_MISUSE(contents = buffer->contents(), "private storage");
  CHECK(contents == nullptr);
  const char bytes[4] = {};
  MTL::Buffer* none = nullptr;
  CHECK_MISUSE(none = host.device->newBuffer(bytes, 4, MTL::ResourceStorageModePrivate), "private storage");
  CHECK(none == nullptr);
}

TEST_CASE("didModifyRange is for managed storage only") {
  Host host;
  const auto shared = host.buffer(64);
  CHECK_MISUSE(shared->didModifyRange(NS::Range(0, 4)), "managed");
  const auto managed = NS::TransferPtr(host.device->newBuffer(64, MTL::ResourceStorageModeManaged));
  managed->didModifyRange(NS::Range(0, 64));
  CHECK(take_reports().empty());
  CHECK_MISUSE(managed->didModifyRange(NS::Range(60, 8)), "passes the end");
}

TEST_CASE("a heap is a budget that its buffers share") {
  Host host;
  const auto descriptor = NS::TransferPtr(MTL::HeapDescriptor::alloc()->init());
  descriptor->setSize(4096);
  descriptor->setStorageMode(MTL::StorageModeShared);
  const auto heap = NS::TransferPtr(host.device->newHeap(descriptor.get()));
  REQUIRE(heap);
  auto a = NS::TransferPtr(heap->newBuffer(3000, MTL::ResourceStorageModeShared));
  REQUIRE(a);
  CHECK(a->heap() == heap.get());
  CHECK(heap->usedSize() >= 3000);
  CHECK(heap->maxAvailableSize(256) <= 1096);
  CHECK_FALSE(NS::TransferPtr(heap->newBuffer(3000, MTL::ResourceStorageModeShared)));
  a.reset();
  CHECK(heap->usedSize() == 0);
  CHECK_MISUSE(heap->newBuffer(16, MTL::ResourceStorageModePrivate), "storage mode");
  CHECK_MISUSE(heap->newBuffer(16, MTL::ResourceStorageModeShared, 0), "placement heap");
  descriptor->setType(MTL::HeapTypePlacement);
  CHECK_MISUSE(host.device->newHeap(descriptor.get()), "automatic heaps only");
}

TEST_CASE("a residency set keeps its books, and uncommitted changes are reported where they would be lost") {
  Host host;
  const auto descriptor = NS::TransferPtr(MTL::ResidencySetDescriptor::alloc()->init());
  descriptor->setLabel(text("weights"));
  NS::Error* error = nullptr;
  const auto set = NS::TransferPtr(host.device->newResidencySet(descriptor.get(), &error));
  REQUIRE(set);
  const auto a = host.buffer(100), b = host.buffer(200);
  const MTL::Allocation* both[] = {a.get(), b.get()};
  set->addAllocations(both, 2);
  set->addAllocation(a.get());  // once is enough
  CHECK(set->allocationCount() == 2);
  CHECK(set->containsAllocation(a.get()));
  CHECK(set->allocatedSize() == 0);
  CHECK_MISUSE(set->requestResidency(), "not committed");
  CHECK_MISUSE(host.queue->addResidencySet(set.get()), "not committed");
  set->commit();
  CHECK(set->allocatedSize() >= 300);
  set->requestResidency();
  host.queue->addResidencySet(set.get());
  host.queue->removeResidencySet(set.get());
  MTL::CommandBuffer* const commands = host.queue->commandBuffer();
  commands->useResidencySet(set.get());
  CHECK(Host::run(commands).empty());
  set->removeAllocation(a.get());
  CHECK_FALSE(set->containsAllocation(a.get()));
  CHECK(set->allAllocations()->count() == 1);
  set->removeAllAllocations();
  set->commit();
  CHECK(set->allocatedSize() == 0);
  set->endResidency();
  CHECK(take_reports().empty());
}
