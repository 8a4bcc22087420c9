// Handlers written as blocks, which need clang with -fblocks.
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>

#include "host.h"

TEST_CASE("a completion handler may be a block") {
  Host host;
  __block int called = 0;
  MTL::CommandBuffer* const commands = host.queue->commandBuffer();
  commands->addScheduledHandler(^(MTL::CommandBuffer*) {
    called += 1;
  });
  commands->addCompletedHandler(^(MTL::CommandBuffer* completed) {
    if (completed->status() == MTL::CommandBufferStatusCompleted) called += 10;
  });
  CHECK(Host::run(commands).empty());
  CHECK(called == 11);
}

TEST_CASE(
    "the deallocator of wrapped memory is called once, with its pointer and length, when the work is done") {
  Host host;
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* const memory = mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  __block int called = 0;
  __block void* pointer = nullptr;
  __block NS::UInteger length = 0;
  auto buffer = NS::TransferPtr(
      host.device->newBuffer(memory, page, MTL::ResourceStorageModeShared, ^(void* p, NS::UInteger n) {
        called += 1;
        pointer = p;
        length = n;
        munmap(p, n);
      }));
  const auto event = NS::TransferPtr(host.device->newSharedEvent());
  const auto state = host.pipeline("add_one");
  MTL::CommandBuffer* const commands = host.queue->commandBuffer();
  commands->encodeWait(event.get(), 1);
  MTL::ComputeCommandEncoder* const encoder = commands->computeCommandEncoder();
  encoder->setComputePipelineState(state.get());
  encoder->setBuffer(buffer.get(), 0, 0);
  encoder->dispatchThreadgroups(MTL::Size(1, 1, 1), MTL::Size(32, 1, 1));
  encoder->endEncoding();
  commands->commit();
  buffer.reset();
  CHECK(called == 0);
  event->setSignaledValue(1);
  commands->waitUntilCompleted();
  CHECK(called == 1);
  CHECK(pointer == memory);
  CHECK(length == page);
}

TEST_CASE("a listener of a shared event may be a block") {
  Host host;
  const auto event = NS::TransferPtr(host.device->newSharedEvent());
  const auto done = NS::TransferPtr(host.device->newSharedEvent());
  MTL::SharedEvent* const signal = done.get();
  event->notifyListener(MTL::SharedEventListener::sharedListener(), 3, ^(MTL::SharedEvent*, uint64_t value) {
    signal->setSignaledValue(value * 10);
  });
  event->setSignaledValue(3);
  CHECK(done->waitUntilSignaledValue(30, 5000));
}
