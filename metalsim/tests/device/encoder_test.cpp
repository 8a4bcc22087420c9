// Compute and blit encoders: what runs, and each mistake that is found.
#include <numeric>

#include "host.h"

namespace {

constexpr size_t word = sizeof(uint32_t);

/// One compute encoder that is open, for tests of single calls.
struct Encoding : Host {
  explicit Encoding(MTL::DispatchType type = MTL::DispatchTypeSerial)
      : commands(queue->commandBuffer()), encoder(commands->computeCommandEncoder(type)) {}

  /// Ends and runs it; the error's text.
  std::string finish() {
    encoder->endEncoding();
    return run(commands);
  }

  void use(const char* kernel) { encoder->setComputePipelineState(pipeline(kernel).get()); }

  MTL::CommandBuffer* commands;
  MTL::ComputeCommandEncoder* encoder;
};

const MTL::Size one(1, 1, 1);
const MTL::Size warp(32, 1, 1);

}  // namespace

TEST_CASE("bytes, offsets and several buffers reach the kernel") {
  Encoding e;
  struct {
    float factor;
    uint32_t count;
  } args = {2.5f, 40};
  const auto x = e.buffer(64 * 4), y = e.buffer(64 * 4);
  std::iota(Host::data<float>(x), Host::data<float>(x) + 64, 0.0f);
  e.use("scale");
  const MTL::Buffer* buffers[] = {x.get(), y.get()};
  const NS::UInteger offsets[] = {0, 0};
  e.encoder->setBuffers(buffers, offsets, NS::Range(1, 2));
  e.encoder->setBufferOffset(4 * word, 1);
  e.encoder->setBytes(&args, sizeof args, 0);
  args.factor = 0;  // setBytes has taken a copy
  e.encoder->dispatchThreadgroups(MTL::Size(2, 1, 1), warp);
  CHECK(e.finish().empty());
  CHECK(Host::data<float>(y)[3] == 7 * 2.5f);
  CHECK(Host::data<float>(y)[39] == 43 * 2.5f);
  CHECK(Host::data<float>(y)[40] == 0);
}

TEST_CASE("dispatchThreads runs partial threadgroups in three dimensions") {
  Encoding e;
  const auto total = e.buffer(word);
  e.use("count_threads");
  e.encoder->setBuffer(total.get(), 0, 0);
  e.encoder->dispatchThreads(MTL::Size(33, 5, 3), MTL::Size(16, 2, 2));
  CHECK(e.finish().empty());
  CHECK(Host::data<uint32_t>(total)[0] == 33 * 5 * 3);
}

TEST_CASE("an indirect dispatch takes its grid from a buffer that an earlier dispatch wrote") {
  Encoding e;
  const auto grid = e.buffer(4 * word), total = e.buffer(word);
  e.use("write_group_count");
  e.encoder->setBuffer(grid.get(), word, 0);
  e.encoder->dispatchThreadgroups(one, one);
  e.use("count_threads");
  e.encoder->setBuffer(total.get(), 0, 0);
  e.encoder->dispatchThreadgroups(grid.get(), word, warp);
  CHECK(e.finish().empty());
  CHECK(Host::data<uint32_t>(total)[0] == 3 * 32);
}

TEST_CASE("an indirect dispatch of an empty grid does nothing; a place outside the buffer is a mistake") {
  Encoding e;
  const auto grid = e.buffer(4 * word), total = e.buffer(word);
  e.use("count_threads");
  e.encoder->setBuffer(total.get(), 0, 0);
  e.encoder->dispatchThreadgroups(grid.get(), 0, warp);
  CHECK(e.finish().empty());
  CHECK(Host::data<uint32_t>(total)[0] == 0);
  Encoding bad;
  bad.use("count_threads");
  bad.encoder->setBuffer(total.get(), 0, 0);
  CHECK_MISUSE(bad.encoder->dispatchThreadgroups(grid.get(), 2 * word, warp), "do not lie within");
  CHECK_MISUSE(bad.encoder->dispatchThreadgroups(grid.get(), 2, warp), "multiple of 4");
  bad.finish();
}

TEST_CASE("threadgroup memory set by the host") {
  Encoding e;
  const auto y = e.buffer(32 * word);
  std::iota(Host::data<uint32_t>(y), Host::data<uint32_t>(y) + 32, 0u);
  e.use("reverse_in_group");
  e.encoder->setBuffer(y.get(), 0, 0);
  e.encoder->setThreadgroupMemoryLength(32 * word, 0);
  e.encoder->dispatchThreadgroups(one, warp);
  CHECK(e.finish().empty());
  CHECK(Host::data<uint32_t>(y)[0] == 31);
  CHECK(Host::data<uint32_t>(y)[31] == 0);
}

TEST_CASE(
    "a serial encoder orders its dispatches; a concurrent one needs a barrier, of scope or of resources") {
  const auto twice = [](MTL::DispatchType type, int barrier) {
    Encoding e(type);
    CHECK(e.encoder->dispatchType() == type);
    const auto y = e.buffer(32 * word);
    e.use("add_one");
    e.encoder->setBuffer(y.get(), 0, 0);
    e.encoder->dispatchThreadgroups(one, warp);
    const MTL::Resource* resources[] = {y.get()};
    if (barrier == 1) e.encoder->memoryBarrier(MTL::BarrierScopeBuffers);
    if (barrier == 2) e.encoder->memoryBarrier(resources, 1);
    if (barrier == 3) e.encoder->memoryBarrier(MTL::BarrierScopeTextures);
    e.encoder->dispatchThreadgroups(one, warp);
    return e.finish();
  };
  CHECK(twice(MTL::DispatchTypeSerial, 0).empty());
  CHECK(twice(MTL::DispatchTypeConcurrent, 1).empty());
  CHECK(twice(MTL::DispatchTypeConcurrent, 2).empty());
  const std::string without = twice(MTL::DispatchTypeConcurrent, 0);
  INFO(without);
  CHECK(contains(without, "missing memoryBarrier"));
  CHECK(contains(twice(MTL::DispatchTypeConcurrent, 3), "missing memoryBarrier"));
}

TEST_CASE("two encoders of one command buffer are ordered") {
  Encoding e(MTL::DispatchTypeConcurrent);
  const auto y = e.buffer(32 * word);
  for (int i = 0; i < 2; ++i) {
    e.use("add_one");
    e.encoder->setBuffer(y.get(), 0, 0);
    e.encoder->dispatchThreadgroups(one, warp);
    if (i == 1) break;
    e.encoder->endEncoding();
    e.encoder = e.commands->computeCommandEncoder(MTL::DispatchTypeConcurrent);
  }
  CHECK(e.finish().empty());
  CHECK(Host::data<uint32_t>(y)[9] == 2);
}

TEST_CASE("a kernel's defect fails the command buffer, with line and buffer label") {
  Host host;
  const auto y = host.buffer(32 * word);
  y->setLabel(text("activations"));
  const std::string error = host.run_simple("past_the_end", y);
  INFO(error);
  CHECK(contains(error, "device.metal:"));
  CHECK(contains(error, "activations"));
  CHECK(contains(error, "past_the_end"));
  // A second run makes no new report, and still fails with the same text.
  CHECK(contains(host.run_simple("past_the_end", y), "past_the_end"));
}

TEST_CASE("a narrowed range ends where its tensor ends, in an intact buffer") {
  Host host;
  const auto y = host.buffer(4096);
  metalsim::narrow(y.get(), 0, 16 * word, "first tensor");
  CHECK(contains(host.run_simple("fill_index", y), "first tensor"));
  metalsim::narrow(y.get(), 0, 0, nullptr);
  CHECK(host.run_simple("fill_index", y).empty());
  CHECK_MISUSE(metalsim::narrow(host.queue.get(), 0, 1, "x"), "not an MTL::Buffer");
}

// --- Mistakes in a dispatch: reported, and the command buffer fails

TEST_CASE("dispatch without a pipeline") {
  Encoding e;
  CHECK_MISUSE(e.encoder->dispatchThreadgroups(one, warp), "no pipeline state");
  CHECK(contains(e.finish(), "no pipeline state"));
  CHECK(e.commands->status() == MTL::CommandBufferStatusError);
  CHECK(e.commands->error()->code() == MTL::CommandBufferErrorInvalidResource);
}

TEST_CASE("unbound buffer") {
  Encoding e;
  e.use("fill_index");
  CHECK_MISUSE(e.encoder->dispatchThreadgroups(one, warp), "buffer 0 is not bound");
  CHECK(contains(e.finish(), "kernel fill_index"));
}

TEST_CASE("a buffer that a function constant switches off may stay unbound") {
  Host host;
  const auto y = host.buffer(32 * word);
  CHECK(host.run_simple("add_bias", y).empty());
  CHECK(Host::data<uint32_t>(y)[3] == 1);
}

TEST_CASE("threadgroup memory: no length, over the limit, no multiple of 16") {
  Encoding e;
  const auto y = e.buffer(32 * word);
  e.use("two_arrays");
  e.encoder->setBuffer(y.get(), 0, 0);
  e.encoder->setThreadgroupMemoryLength(128, 0);
  CHECK_MISUSE(e.encoder->dispatchThreadgroups(one, warp), "threadgroup memory 1 has no length");
  e.encoder->setThreadgroupMemoryLength(16384 + 16, 0);
  e.encoder->setThreadgroupMemoryLength(16384, 1);
  CHECK_MISUSE(e.encoder->dispatchThreadgroups(one, warp), "32784 bytes of threadgroup memory");
  CHECK_MISUSE(e.encoder->setThreadgroupMemoryLength(100, 0), "no multiple of 16");
  e.finish();
}

TEST_CASE("threadgroup memory declared in the kernel counts towards the limit, and works") {
  Encoding e;
  const auto y = e.buffer(32 * word);
  for (uint32_t i = 0; i < 32; ++i) Host::data<uint32_t>(y)[i] = i;
  e.use("reverse_own_32");
  e.encoder->setBuffer(y.get(), 0, 0);
  e.encoder->setThreadgroupMemoryLength(32768 - 416 + 16, 0);
  CHECK_MISUSE(
      e.encoder->dispatchThreadgroups(one, warp),
      "32784 bytes of threadgroup memory (416 of them declared in the kernel); the device has 32768");
  e.finish();

  Encoding good;
  good.use("reverse_own_32");
  good.encoder->setBuffer(y.get(), 0, 0);
  good.encoder->setThreadgroupMemoryLength(32768 - 416, 0);
  good.encoder->dispatchThreadgroups(one, warp);
  CHECK(good.finish().empty());
  CHECK(Host::data<uint32_t>(y)[0] == 62);
}

TEST_CASE("setBytes: over 4096 bytes, null, written by the kernel, shorter than the structure") {
  Encoding e;
  const std::vector<char> bytes(4097);
  CHECK_MISUSE(e.encoder->setBytes(bytes.data(), 4097, 0), "4097 bytes");
  CHECK_MISUSE(e.encoder->setBytes(nullptr, 16, 0), "null pointer");
  e.use("fill_index");
  e.encoder->setBytes(bytes.data(), 4096, 0);
  CHECK_MISUSE(e.encoder->dispatchThreadgroups(one, warp), "writable");
  const auto x = e.buffer(128), y = e.buffer(128);
  e.use("scale");
  e.encoder->setBytes(bytes.data(), 4, 0);
  e.encoder->setBuffer(x.get(), 0, 1);
  e.encoder->setBuffer(y.get(), 0, 2);
  CHECK_MISUSE(e.encoder->dispatchThreadgroups(one, warp), "host and kernel disagree");
  e.finish();
}

TEST_CASE("more threads than the pipeline allows, no threads, an empty grid") {
  Encoding e;
  const auto y = e.buffer(4096);
  e.use("at_most_64");
  e.encoder->setBuffer(y.get(), 0, 0);
  CHECK_MISUSE(e.encoder->dispatchThreadgroups(one, MTL::Size(65, 1, 1)),
               "maxTotalThreadsPerThreadgroup, 64");
  CHECK_MISUSE(e.encoder->dispatchThreadgroups(one, MTL::Size(8, 8, 2)), "maxTotalThreadsPerThreadgroup, 64");
  CHECK_MISUSE(e.encoder->dispatchThreadgroups(one, MTL::Size(size_t{1} << 63, 2, 1)),
               "maxTotalThreadsPerThreadgroup");
  CHECK_MISUSE(e.encoder->dispatchThreadgroups(one, MTL::Size(0, 1, 1)), "has no threads");
  CHECK_MISUSE(e.encoder->dispatchThreadgroups(MTL::Size(1, 0, 1), warp), "grid of 1x0x1");
  CHECK_MISUSE(e.encoder->dispatchThreads(MTL::Size(0, 1, 1), warp), "grid of 0x1x1");
  CHECK_MISUSE(e.encoder->dispatchThreads(MTL::Size(size_t{1} << 32, 1, 1), warp), "4294967295");
  e.finish();
}

TEST_CASE("a promise about the threadgroup's size is held to") {
  Encoding e;
  const auto function = NS::TransferPtr(e.library->newFunction(text("fill_index")));
  const auto descriptor = NS::TransferPtr(MTL::ComputePipelineDescriptor::alloc()->init());
  descriptor->setComputeFunction(function.get());
  descriptor->setThreadGroupSizeIsMultipleOfThreadExecutionWidth(true);
  NS::Error* error = nullptr;
  const auto state = NS::TransferPtr(
      e.device->newComputePipelineState(descriptor.get(), MTL::PipelineOptionNone, nullptr, &error));
  const auto y = e.buffer(4096);
  e.encoder->setComputePipelineState(state.get());
  e.encoder->setBuffer(y.get(), 0, 0);
  CHECK_MISUSE(e.encoder->dispatchThreadgroups(one, MTL::Size(33, 1, 1)), "no multiple of 32");
  e.finish();
}

TEST_CASE("bindings: index out of range, offset past the end, offset of nothing") {
  Encoding e;
  const auto y = e.buffer(64);
  CHECK_MISUSE(e.encoder->setBuffer(y.get(), 0, 31), "indices 0 to 30");
  CHECK_MISUSE(e.encoder->setBuffer(y.get(), 64, 0), "past the end");
  CHECK_MISUSE(e.encoder->setBufferOffset(0, 0), "no buffer is bound");
  e.encoder->setBuffer(y.get(), 0, 0);
  CHECK_MISUSE(e.encoder->setBufferOffset(64, 0), "past the end");
  CHECK_MISUSE(e.encoder->setComputePipelineState(nullptr), "newComputePipelineState failed");
  CHECK_MISUSE(e.encoder->useResource(nullptr, MTL::ResourceUsageRead), "useResource: null");
  const MTL::Resource* resources[] = {nullptr};
  CHECK_MISUSE(e.encoder->memoryBarrier(resources, 1), "null or no buffer");
  e.encoder->useResource(y.get(), MTL::ResourceUsageRead);
  CHECK(e.finish().empty());
}

// --- Mistakes around encoders

TEST_CASE("an encoder that is not ended, ended twice, or used afterwards") {
  Encoding e;
  CHECK_MISUSE(e.commands->commit(), "with an open encoder");
  e.commands->waitUntilCompleted();
  CHECK(e.commands->status() == MTL::CommandBufferStatusError);
  e.encoder->endEncoding();
  take_reports();

  Encoding f;
  f.encoder->endEncoding();
  CHECK_MISUSE(f.encoder->endEncoding(), "endEncoding twice");
  CHECK_MISUSE(f.encoder->dispatchThreadgroups(one, warp), "after endEncoding");
  CHECK_MISUSE(f.encoder->setBuffer(nullptr, 0, 0), "after endEncoding");
  CHECK(Host::run(f.commands).empty());
}

TEST_CASE("an encoder released before endEncoding") {
  Host host;
  auto inner = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  host.queue->commandBuffer()->computeCommandEncoder()->setLabel(text("forgotten"));
  CHECK_MISUSE(inner.reset(), "compute encoder \"forgotten\" is released before endEncoding");
}

TEST_CASE("two encoders at once") {
  Encoding e;
  MTL::BlitCommandEncoder* second = nullptr;
  CHECK_MISUSE(second = e.commands->blitCommandEncoder(), "an encoder is still open");
  second->endEncoding();
  CHECK_FALSE(e.finish().empty());
}

TEST_CASE("debug groups must balance") {
  Encoding e;
  CHECK_MISUSE(e.encoder->popDebugGroup(), "no group is pushed");
  e.encoder->pushDebugGroup(text("layer 3"));
  e.encoder->insertDebugSignpost(text("here"));
  CHECK_MISUSE(e.encoder->endEncoding(), "\"layer 3\" is pushed but not popped");
  CHECK_MISUSE(e.commands->popDebugGroup(), "no group is pushed");
  CHECK(Host::run(e.commands).empty());
}

TEST_CASE("fences: a wait that nothing precedes is reported") {
  Encoding e;
  const auto fence = NS::TransferPtr(e.device->newFence());
  CHECK_MISUSE(e.encoder->waitForFence(fence.get()), "nothing encoded before updates");
  e.encoder->updateFence(fence.get());
  e.encoder->waitForFence(fence.get());
  CHECK(take_reports().empty());
  CHECK(e.finish().empty());
}

// --- Blits

TEST_CASE("copies and fills") {
  Host host;
  const auto a = host.buffer(64), b = host.buffer(64);
  for (int i = 0; i < 64; ++i) Host::data<uint8_t>(a)[i] = static_cast<uint8_t>(i);
  MTL::CommandBuffer* const commands = host.queue->commandBuffer();
  MTL::BlitCommandEncoder* const encoder = commands->blitCommandEncoder();
  encoder->copyFromBuffer(a.get(), 8, b.get(), 16, 24);
  encoder->fillBuffer(b.get(), NS::Range(40, 8), 0xAB);
  encoder->endEncoding();
  CHECK(Host::run(commands).empty());
  CHECK(Host::data<uint8_t>(b)[15] == 0);
  CHECK(Host::data<uint8_t>(b)[16] == 8);
  CHECK(Host::data<uint8_t>(b)[39] == 31);
  CHECK(Host::data<uint8_t>(b)[40] == 0xAB);
  CHECK(Host::data<uint8_t>(b)[48] == 0);
}

TEST_CASE("blit mistakes") {
  Host host;
  const auto a = host.buffer(64), b = host.buffer(64);
  MTL::CommandBuffer* const commands = host.queue->commandBuffer();
  MTL::BlitCommandEncoder* const encoder = commands->blitCommandEncoder();
  CHECK_MISUSE(encoder->copyFromBuffer(a.get(), 48, b.get(), 0, 32), "pass the end");
  CHECK_MISUSE(encoder->copyFromBuffer(a.get(), 0, b.get(), SIZE_MAX - 3, 8), "pass the end");
  CHECK_MISUSE(encoder->copyFromBuffer(a.get(), 0, b.get(), 2, 4), "multiples of 4");
  CHECK_MISUSE(encoder->copyFromBuffer(a.get(), 0, a.get(), 4, 8), "overlap");
  CHECK_MISUSE(encoder->copyFromBuffer(nullptr, 0, a.get(), 4, 8), "null");
  CHECK_MISUSE(encoder->fillBuffer(a.get(), NS::Range(60, 8), 0), "pass the end");
  CHECK_MISUSE(encoder->synchronizeResource(a.get()), "managed");
  encoder->endEncoding();
  CHECK_FALSE(Host::run(commands).empty());
}
