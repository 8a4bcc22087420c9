#include "backends/cpu/isa/quant_tokens.h"

#include <cstring>

#include "base/error.h"

namespace minfer::cpu {
namespace {

template <int tokens>
void pack(TokenBlock<tokens>* to, const Q8Rows& rows, int64_t blocks) {
  for (int64_t b = 0; b < blocks; ++b) {
    for (int t = 0; t < tokens; ++t) {
      const int64_t at = t * blocks + b;
      const int32_t first = rows.sum[2 * at], second = rows.sum[2 * at + 1], sum = first + second;
      std::memcpy(to[b].q[t], rows.q + at * 32, 32);
      to[b].d[t] = rows.d[at];
      to[b].d_sum[t] = rows.d[at] * float(sum);
      to[b].seed8[t] = dot_origin_bits - 8 * sum;
      to[b].seed16[t] = dot_origin_bits - 16 * sum;
      to[b].seed128[t] = dot_origin_bits - 128 * sum;
      to[b].seed32[0][t] = dot_origin_bits - 32 * first;
      to[b].seed32[1][t] = -32 * second;
    }
  }
}

template <int most>
void pack_some(std::byte* tile, const Q8Rows& rows, int64_t tokens, int64_t first, int64_t n) {
  if constexpr (most > 0) {
    if (tokens == most) return pack(reinterpret_cast<TokenBlock<most>*>(tile) + first, rows, n);
    pack_some<most - 1>(tile, rows, tokens, first, n);
  }
}

}  // namespace

void pack_tokens(std::byte* tile, const Q8Rows& rows, int64_t tokens, int64_t first, int64_t n) {
  MINFER_CHECK(tokens > 0 && tokens <= token_tile, "a tile of quantised tokens is not empty nor too long");
  pack_some<token_tile>(tile, rows, tokens, first, n);
}

}  // namespace minfer::cpu
