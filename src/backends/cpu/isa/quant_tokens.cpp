#include "backends/cpu/isa/quant_tokens.h"

#include <cstring>

#include "base/error.h"

namespace minfer::cpu {
namespace {

template <int tokens>
void pack(const TokenTile<tokens>& tile, const Q8Rows& rows, int64_t first_block, int64_t n) {
  TokenBlock<tokens>* const quants = tile.quants() + first_block;
  auto* const sums0 = tile.template sums<0>() + first_block;
  auto* const sums8 = tile.template sums<8>() + first_block;
  auto* const sums16 = tile.template sums<16>() + first_block;
  auto* const sums128 = tile.template sums<128>() + first_block;
  auto* const sums32 = tile.template sums<32>() + first_block;
  for (int64_t b = 0; b < n; ++b) {
    for (int t = 0; t < tokens; ++t) {
      const int64_t at = t * n + b;
      const int32_t first = rows.sum[2 * at], second = rows.sum[2 * at + 1], sum = first + second;
      std::memcpy(quants[b].q[t], rows.q + at * 32, 32);
      quants[b].d[t] = rows.d[at];
      sums0[b].d_sum[t] = rows.d[at] * float(sum);
      sums8[b].seed[0][t] = dot_origin_bits - 8 * sum;
      sums16[b].seed[0][t] = dot_origin_bits - 16 * sum;
      sums128[b].seed[0][t] = dot_origin_bits - 128 * sum;
      sums32[b].seed[0][t] = dot_origin_bits - 32 * first;
      sums32[b].seed[1][t] = -32 * second;
    }
  }
}

template <int most>
void pack_some(const Q8Tokens& to, int64_t token, const Q8Rows& rows, int64_t first, int64_t n) {
  if constexpr (most > 0) {
    if (to.tokens - token >= most) return pack(TokenTile<most>{to.tile(token), to.blocks()}, rows, first, n);
    pack_some<most - 1>(to, token, rows, first, n);
  }
}

}  // namespace

void pack_tokens(const Q8Tokens& to, int64_t token, const Q8Rows& rows, int64_t first, int64_t n) {
  MINFER_CHECK(token % token_tile == 0 && token < to.tokens, "a tile of quantised tokens begins here");
  pack_some<token_tile>(to, token, rows, first, n);
}

}  // namespace minfer::cpu
