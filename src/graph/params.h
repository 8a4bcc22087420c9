#pragma once
#include <cstdint>
#include <set>
#include <string>

#include "graph/kv_format.h"
#include "graph/ops.h"

namespace minfer {

/// What a context fixes once. Part of every graph's identity.
struct ContextParams {
  int64_t n_ctx = 0;  ///< cells of each KV region
  KvFormat kv_format = KvFormat::f32;
  WindowKind window = WindowKind::causal;
  bool flash_attn = true;
  bool gpu = false;                       ///< a device takes part
  int gpu_layers = 0;                     ///< blocks 0..gpu_layers on it
  bool fuse_qkv = true;                   ///< the fused_qkv and fused_qkv_norm passes
  bool fuse_ffn = true;                   ///< the fused_ffn pass
  std::set<std::string> disabled_passes;  ///< --disable-pass=NAME
  bool operator==(const ContextParams&) const = default;
};

/// The whole identity of a graph: equal params give equal graphs. The number of sequences is data and absent.
struct GraphParams {
  int64_t n_tokens = 1;
  int64_t n_out = 1;  ///< the last n_out tokens get logits; 0: a graph that stores keys and values alone
  enum class Phase : uint8_t { decode, prefill } phase = Phase::decode;
  ContextParams context;
  uint64_t weights_version = 1;
  bool operator==(const GraphParams&) const = default;
};

}  // namespace minfer
