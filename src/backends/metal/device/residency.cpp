#include "backends/metal/device/residency.h"

#include <chrono>

#include "backends/metal/device/submission.h"
#include "backends/metal/kernels/warm_up_args.h"
#include "base/log.h"

namespace minfer::metal {
namespace {

constexpr uint32_t page_bytes = 16384;
constexpr uint32_t group_threads = 32;  // one simdgroup: its lane 0 writes the group's sum

void touch(Device& device, const std::vector<Ref<MTL::Buffer>>& buffers) {
  const AutoreleasePool pool;
  auto commands = keep(device.queue()->commandBuffer());
  auto* encoder = commands->computeCommandEncoder();
  encoder->setComputePipelineState(device.pipeline("warm_up").state.get());
  std::vector<Ref<MTL::Buffer>> sums;
  for (const auto& buffer : buffers) {
    const WarmUpArgs args = {uint32_t((buffer->length() + page_bytes - 1) / page_bytes), page_bytes};
    const uint32_t groups = (args.pages + group_threads - 1) / group_threads;
    sums.push_back(device.new_buffer(groups * sizeof(uint32_t), "warm-up"));
    encoder->setBytes(&args, sizeof args, 0);
    encoder->setBuffer(buffer.get(), 0, 1);
    encoder->setBuffer(sums.back().get(), 0, 2);
    encoder->dispatchThreadgroups(MTL::Size(groups, 1, 1), MTL::Size(group_threads, 1, 1));
  }
  encoder->endEncoding();
  Submission(commands, {"warm_up"}).wait(std::chrono::minutes(2));  // a large file comes from the disk here
}

}  // namespace

Residency::~Residency() {
  if (set_) set_->endResidency();
}

Residency make_resident(Device& device, const std::vector<Ref<MTL::Buffer>>& buffers) {
  if (buffers.empty()) return Residency({});
  const AutoreleasePool pool;
  const auto begin = std::chrono::steady_clock::now();
  NS::Error* error = nullptr;
  const auto descriptor = adopt(MTL::ResidencySetDescriptor::alloc()->init());
  auto set = adopt(device.mtl()->newResidencySet(descriptor.get(), &error));
  if (set) {
    for (const auto& buffer : buffers) set->addAllocation(buffer.get());
    set->commit();
    set->requestResidency();
  } else {  // before macOS 15: the first read is made early all the same
    log(LogLevel::debug, "{} has no residency sets: {}", Device::kind(), reason_of(error));
  }
  touch(device, buffers);
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  log(LogLevel::debug, "{}: {} weight buffers made resident in {:.1f} ms", Device::kind(), buffers.size(),
      took.count());
  return Residency(std::move(set));
}

}  // namespace minfer::metal
