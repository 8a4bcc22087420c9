#include "backends/metal/ops/attention_route.h"

#include <algorithm>
#include <array>

#include "base/error.h"

namespace minfer::metal {

std::string_view name(AttentionRoute route) {
  switch (route) {
    case AttentionRoute::decode_flash:
      return "decode_flash";
    case AttentionRoute::decode_split:
      return "decode_split";
    case AttentionRoute::prefill_flash:
      return "prefill_flash";
    case AttentionRoute::prefill_three_pass:
      return "prefill_three_pass";
    case AttentionRoute::classic:
      return "classic";
    case AttentionRoute::staged_decode_flash:
      return "staged_decode_flash";
    case AttentionRoute::staged_prefill_flash:
      return "staged_prefill_flash";
  }
  MINFER_CHECK(false, "a route is one of the above");
}

bool has_fast_width(int64_t head_dim) {
  constexpr std::array<int64_t, 5> widths = {64, 80, 96, 128, 256};
  return std::find(widths.begin(), widths.end(), head_dim) != widths.end();
}

AttentionRoute attention_route(int64_t tokens, int64_t head_dim, KvFormat format, const Settings& settings) {
  if (format == KvFormat::q8_0) return packed_attention_route(tokens, head_dim, settings);
  if (!has_fast_width(head_dim)) return AttentionRoute::classic;
  if (tokens == 1) {
    if (settings.flash) return AttentionRoute::decode_flash;
    return settings.split_attention ? AttentionRoute::decode_split : AttentionRoute::classic;
  }
  if (settings.prefill_flash) return AttentionRoute::prefill_flash;
  return settings.matmul_attention ? AttentionRoute::prefill_three_pass : AttentionRoute::classic;
}

AttentionRoute packed_attention_route(int64_t tokens, int64_t head_dim, const Settings& settings) {
  if (!has_fast_width(head_dim)) return AttentionRoute::classic;
  if (tokens > 1) {
    return settings.prefill_flash ? AttentionRoute::staged_prefill_flash : AttentionRoute::classic;
  }
  if (!settings.flash) return AttentionRoute::classic;
  return settings.packed_stage ? AttentionRoute::staged_decode_flash : AttentionRoute::decode_flash;
}

}  // namespace minfer::metal
