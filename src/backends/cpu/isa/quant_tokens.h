#pragma once
#include <algorithm>
#include <bit>

#include "backends/cpu/isa/kernels.h"

/// Quantised tokens as products read them: tiles of token_tile tokens, in each tile block after block, in
/// each block what all tokens of the tile have there side by side. One pointer serves a whole tile, and the
/// processor foresees every load. The same in every instruction set and for every weight type.
namespace minfer::cpu {

inline constexpr int64_t token_tile = 8;

/// Sums of products begin at this float's bits, so that they end as the bits of dot_origin + dot, for |dot|
/// up to 2^22: a float without a conversion. What comes off again, scale * dot_origin, is exact, so that
/// fma(dot_origin + dot, scale, -dot_origin * scale) rounds scale * dot once.
inline constexpr float dot_origin = 0x1.8p23f;
inline constexpr int32_t dot_origin_bits = std::bit_cast<int32_t>(dot_origin);

/// 32 columns of n <= token_tile tokens.
template <int n>
struct TokenBlock {
  int8_t q[n][32];
  float d[n];
  float d_sum[n];  ///< d times the sum of q, rounded once: what the weights' minimum is multiplied by
  /// Where an integer dot of unsigned quants begins so that it ends as the dot of signed ones plus
  /// dot_origin_bits: minus their offset times the sum of q. For the offset of 32 both halves have one, and
  /// the second is without dot_origin_bits.
  int32_t seed8[n], seed16[n], seed128[n], seed32[2][n];
};

/// Where the dot of a token with unsigned quants that carry `offset` begins, for a block's words from `begin`
/// on.
template <int offset, int begin, int n>
[[gnu::always_inline]] inline int32_t dot_seed(const TokenBlock<n>& x, int token) {
  static_assert(offset == 0 || offset == 8 || offset == 16 || offset == 32 || offset == 128);
  if constexpr (offset == 0) return dot_origin_bits;
  if constexpr (offset == 8) return x.seed8[token];
  if constexpr (offset == 16) return x.seed16[token];
  if constexpr (offset == 32) return x.seed32[begin / 4][token];
  if constexpr (offset == 128) return x.seed128[token];
}

inline constexpr int64_t token_block_bytes = sizeof(TokenBlock<1>);
static_assert(sizeof(TokenBlock<token_tile>) == token_tile * token_block_bytes);

/// The last tile holds what is left. Rows are a whole number of blocks.
struct Q8Tokens {
  std::byte* data;
  int64_t cols, tokens;

  int64_t blocks() const { return cols / 32; }
  /// The tile that begins with `token`, a multiple of token_tile.
  [[gnu::always_inline]] std::byte* tile(int64_t token) const {
    return data + token * blocks() * token_block_bytes;
  }
  /// Tokens [first, first + n). A part that does not end with the last token is whole tiles.
  [[gnu::always_inline]] Q8Tokens part(int64_t first, int64_t n) const { return {tile(first), cols, n}; }
};

constexpr size_t q8_token_bytes(int64_t cols, int64_t tokens) {
  return size_t(tokens * (cols / 32) * token_block_bytes);
}

/// Writes blocks [first, first + n) of a tile of `tokens` tokens, of which rows holds n blocks each.
void pack_tokens(std::byte* tile, const Q8Rows& rows, int64_t tokens, int64_t first, int64_t n);

}  // namespace minfer::cpu
