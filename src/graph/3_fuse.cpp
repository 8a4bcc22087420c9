#include <fmt/format.h>

#include "base/error.h"
#include "base/log.h"
#include "graph/passes/rewrite.h"

/// Stage 3: rewrites of the plain graph, each only where the backend that runs it has the kernel.
namespace minfer {
namespace {

// In running order: fused_ffn looks for the nodes that swiglu makes.
constexpr Pass passes[] = {
    {"swiglu", fuse_swiglu},
    {"fused_qkv", fuse_qkv},
    {"fused_qkv_norm", fuse_qkv_norm},
    {"fused_ffn", fuse_ffn},
};

}  // namespace

std::span<const Pass> all_passes() { return passes; }

bool FuseContext::supported(const Node& fused) const {
  return backends[size_t(fused.backend)]->supports(fused).ok;
}

void check_disabled_passes(const std::set<std::string>& disabled) {
  for (const std::string& wanted : disabled) {
    std::string known;
    bool exists = false;
    for (const Pass& pass : passes) {
      known += fmt::format("{}{}", known.empty() ? "" : ", ", pass.name);
      exists = exists || pass.name == wanted;
    }
    if (!exists) {
      throw Error(
          ErrorCode::bad_request,
          fmt::format("disabling pass '{}': there is no such pass, expected one of {}", wanted, known),
          "the names are those of --disable-pass");
    }
  }
}

void fuse(Graph& graph, const GraphParams& params, Backends backends) {
  const FuseContext context{params, backends};
  for (const Pass& pass : passes) {
    if (params.context.disabled_passes.count(std::string(pass.name)) != 0) continue;
    const int rewritten = pass.run(graph, context);
    log(LogLevel::debug, "pass {}: {} places", pass.name, rewritten);
    verify(graph, Stage::fuse, backends.size());
  }
}

}  // namespace minfer
