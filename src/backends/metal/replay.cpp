#include "backends/metal/replay.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/log.h"
#ifdef MINFER_METAL_SIM
#include <metalsim/metalsim.h>
#endif

namespace minfer::metal {
namespace {

constexpr size_t labels_in_errors = 16;

MTL::Size size_of(const Extent& extent) { return MTL::Size(extent.x, extent.y, extent.z); }

/// Tells the software device where each operand ends, so that an overrun inside a larger buffer is seen.
void narrow(const Dispatch& dispatch) {
#ifdef MINFER_METAL_SIM
  for (const Argument& argument : dispatch.arguments) {
    metalsim::narrow(argument.span.buffer, argument.span.offset, argument.span.bytes, dispatch.node.c_str());
  }
#else
  (void)dispatch;
#endif
}

void encode(MTL::ComputeCommandEncoder& encoder, const Dispatch& dispatch) {
  encoder.setComputePipelineState(dispatch.pipeline->state.get());
  if (!dispatch.constants.empty()) encoder.setBytes(dispatch.constants.data(), dispatch.constants.size(), 0);
  for (const Argument& argument : dispatch.arguments) {
    encoder.setBuffer(argument.span.buffer, argument.span.offset, argument.index);
  }
  if (dispatch.threadgroup_bytes > 0) encoder.setThreadgroupMemoryLength(dispatch.threadgroup_bytes, 0);
  encoder.dispatchThreadgroups(size_of(dispatch.groups), size_of(dispatch.threads));
}

std::string label_of(const Dispatch& dispatch) { return dispatch.node + " " + dispatch.pipeline->name; }

std::vector<std::string> last_labels(const MetalProgram& program) {
  std::vector<std::string> labels;
  for (auto at = program.dispatches.rbegin(); at != program.dispatches.rend(); ++at) {
    if (at->skipped) continue;
    labels.insert(labels.begin(), label_of(*at));
    if (labels.size() == labels_in_errors) break;
  }
  return labels;
}

}  // namespace

Submission replay(Device& device, MetalProgram& program, const Settings& settings, OpProfile* profile) {
  const AutoreleasePool pool;
  auto commands = keep(device.queue()->commandBuffer());
  auto* encoder = commands->computeCommandEncoder(MTL::DispatchTypeConcurrent);
  bool barrier_due = false;  // a skipped dispatch leaves its barrier to the next one
  for (const Dispatch& dispatch : program.dispatches) {
    barrier_due |= dispatch.barrier_before;
    if (dispatch.skipped) continue;
    const auto begin = std::chrono::steady_clock::now();
    if (barrier_due) encoder->memoryBarrier(MTL::BarrierScopeBuffers);
    barrier_due = false;
    if (settings.narrow) narrow(dispatch);
    if (settings.trace) log(LogLevel::info, "{} {}", Device::kind(), label_of(dispatch));
    encode(*encoder, dispatch);
    if (profile) profile->encoded(dispatch.pipeline->name, std::chrono::steady_clock::now() - begin);
  }
  encoder->endEncoding();
  return Submission(commands, last_labels(program));
}

}  // namespace minfer::metal
