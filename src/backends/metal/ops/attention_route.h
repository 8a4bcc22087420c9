#pragma once
#include <cstdint>
#include <string_view>

#include "backends/metal/settings.h"
#include "graph/kv_format.h"

namespace minfer::metal {

/// The ways to run a causal attention. The staged ones first write packed rows out as f32 and then read that.
enum class AttentionRoute : uint8_t {
  decode_flash,          ///< one token, rows read in their format
  decode_split,          ///< one token, rows staged in threadgroup memory
  prefill_flash,         ///< many tokens, on the matrix units
  prefill_three_pass,    ///< many tokens, scores in device memory
  classic,               ///< any width, any number of tokens
  staged_decode_flash,   ///< packed rows only
  staged_prefill_flash,  ///< packed rows only
};
std::string_view name(AttentionRoute route);

/// Head widths that the fast families have kernels for; other multiples of 4 up to 256 are `classic`.
bool has_fast_width(int64_t head_dim);

/// From what a graph and the settings say, never from data.
AttentionRoute attention_route(int64_t tokens, int64_t head_dim, KvFormat format, const Settings& settings);
/// The same for q8_0 regions: only the flash families read or unpack them, every way off these is classic.
AttentionRoute packed_attention_route(int64_t tokens, int64_t head_dim, const Settings& settings);

}  // namespace minfer::metal
