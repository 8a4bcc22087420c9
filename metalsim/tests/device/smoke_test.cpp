#include <Metal/Metal.hpp>
#include <doctest/doctest.h>

TEST_CASE("smoke") {
  auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  auto device = NS::TransferPtr(MTL::CreateSystemDefaultDevice());
  REQUIRE(device);
  MESSAGE(device->name()->utf8String());
  auto library = NS::TransferPtr(device->newDefaultLibrary());
  REQUIRE(library);
  MESSAGE(library->functionNames()->count());
  auto f = NS::TransferPtr(library->newFunction(MTLSTR("fill_index")));
  REQUIRE(f);
  NS::Error* e = nullptr;
  auto p = NS::TransferPtr(device->newComputePipelineState(f.get(), &e));
  auto b = NS::TransferPtr(device->newBuffer(256, MTL::ResourceStorageModeShared));
  auto q = NS::TransferPtr(device->newCommandQueue());
  auto cb = q->commandBuffer();
  auto enc = cb->computeCommandEncoder();
  enc->setComputePipelineState(p.get());
  enc->setBuffer(b.get(), 0, 0);
  enc->dispatchThreadgroups(MTL::Size(2, 1, 1), MTL::Size(32, 1, 1));
  enc->endEncoding();
  cb->commit();
  cb->waitUntilCompleted();
  CHECK(cb->status() == MTL::CommandBufferStatusCompleted);
  CHECK(static_cast<uint32_t*>(b->contents())[63] == 63);
}
