#define NS_PRIVATE_IMPLEMENTATION  // for a Mac; does nothing here
#define MTL_PRIVATE_IMPLEMENTATION
#include <cstdio>
#include <Foundation/Foundation.hpp>
#include <Metal/Metal.hpp>

int main() {
  auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  auto device = NS::TransferPtr(MTL::CreateSystemDefaultDevice());
  auto library = NS::TransferPtr(device->newDefaultLibrary());
  auto function = NS::TransferPtr(library->newFunction(MTLSTR("sum")));
  NS::Error* error = nullptr;
  auto pipeline = NS::TransferPtr(device->newComputePipelineState(function.get(), &error));
  auto x = NS::TransferPtr(device->newBuffer(128 * sizeof(float), MTL::ResourceStorageModeShared));
  auto total = NS::TransferPtr(device->newBuffer(sizeof(float), MTL::ResourceStorageModeShared));
  for (int i = 0; i < 128; ++i) static_cast<float*>(x->contents())[i] = 1;

  auto queue = NS::TransferPtr(device->newCommandQueue());
  auto commands = queue->commandBuffer();
  auto encoder = commands->computeCommandEncoder();
  encoder->setComputePipelineState(pipeline.get());
  encoder->setBuffer(x.get(), 0, 0);
  encoder->setBuffer(total.get(), 0, 1);
  encoder->setThreadgroupMemoryLength(128 * sizeof(float), 0);
  encoder->dispatchThreadgroups(MTL::Size(1, 1, 1), MTL::Size(128, 1, 1));
  encoder->endEncoding();
  commands->commit();
  commands->waitUntilCompleted();
  if (commands->error()) return 1;  // the report is on standard error, and the error's text
  std::printf("%g\n", *static_cast<float*>(total->contents()));
}
