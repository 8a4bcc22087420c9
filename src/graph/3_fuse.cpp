#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "graph/passes/passes.h"
#include "graph/stages.h"

namespace minfer {
namespace {

bool always(const GraphParams&) { return true; }
bool qkv_wanted(const GraphParams& params) { return params.n_tokens == 1 && params.context.fuse_qkv; }
bool ffn_wanted(const GraphParams& params) { return params.n_tokens == 1 && params.context.fuse_ffn; }

constexpr FusionPass table[] = {
    {"swiglu", always, passes::swiglu},
    {"fused_qkv_norm", qkv_wanted, passes::fused_qkv_norm},
    {"fused_qkv", qkv_wanted, passes::fused_qkv},
    {"fused_ffn", ffn_wanted, passes::fused_ffn},
};

}  // namespace

std::span<const FusionPass> fusion_passes() { return table; }

void fuse(Graph& graph, const GraphParams& params, Backends backends) {
  const auto& disabled = params.context.disabled_passes;
  for (const std::string& name : disabled) {
    if (std::any_of(std::begin(table), std::end(table), [&](const FusionPass& p) { return p.name == name; }))
      continue;
    std::string names;
    for (const FusionPass& pass : table) names += fmt::format("{}{}", names.empty() ? "" : ", ", pass.name);
    throw Error(ErrorCode::bad_request, fmt::format("no fusion pass `{}`", name), "the passes are: " + names);
  }
  for (const FusionPass& pass : table) {
    if (!pass.wanted(params) || disabled.count(std::string(pass.name))) continue;
    pass.run(graph, backends);
    verify(graph, Stage::fuse);
  }
}

}  // namespace minfer
