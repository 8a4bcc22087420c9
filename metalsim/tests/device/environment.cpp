// Prints what the environment made of the device; ctest compares it.
#include <Foundation/Foundation.hpp>
#include <Metal/Metal.hpp>

#include <cstdio>

int main() {
  const auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  const auto device = NS::TransferPtr(MTL::CreateSystemDefaultDevice());
  if (!device) return 1;  // the reason is on standard error
  std::printf("%s; apple8 %d, apple9 %d, ray tracing %d; buffer %zu, working set %zu; threadgroup %zu\n",
              device->name()->utf8String(), device->supportsFamily(MTL::GPUFamilyApple8),
              device->supportsFamily(MTL::GPUFamilyApple9), device->supportsRaytracing(),
              static_cast<size_t>(device->maxBufferLength()),
              static_cast<size_t>(device->recommendedMaxWorkingSetSize()),
              static_cast<size_t>(device->maxThreadgroupMemoryLength()));
  const auto queue = NS::TransferPtr(device->newCommandQueue());
  std::printf("errors");
  for (int i = 0; i < 3; ++i) {
    MTL::CommandBuffer* const commands = queue->commandBuffer();
    commands->commit();
    commands->waitUntilCompleted();
    std::printf(" %d", commands->error() ? static_cast<int>(commands->error()->code()) : 0);
  }
  std::printf("; buffers");
  for (int i = 0; i < 4; ++i) {
    const auto buffer = NS::TransferPtr(device->newBuffer(16, MTL::ResourceStorageModeShared));
    std::printf(" %d", buffer ? 1 : 0);
  }
  std::printf("\n");
  MTL::Buffer* const leaked = device->newBuffer(16, MTL::ResourceStorageModeShared);
  leaked->setLabel(MTLSTR("left behind"));
}
