#pragma once
#include <algorithm>
#include <bit>

#include "backends/cpu/isa/kernels.h"

/// Quantised tokens as products read them: tiles of token_tile tokens, in each tile block after block, in
/// each block what all tokens of the tile have there side by side. Sums that only some weight types need
/// follow in planes of their own, so that a product reads what it uses and no more. The processor foresees
/// every load. The same in every instruction set and for every weight type.
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
};

/// What sums of the same quants give to products of weights whose unsigned quants carry `offset`: where an
/// integer dot begins so that it ends as the dot of signed quants plus dot_origin_bits, which is minus the
/// offset times the sum. For the offset of 32 both halves have one, and the second is without
/// dot_origin_bits.
template <int offset, int n>
struct TokenSums {
  int32_t seed[offset == 32 ? 2 : 1][n];
};
/// No offset: d times the sum, rounded once, which the weights' minimum is multiplied by.
template <int n>
struct TokenSums<0, n> {
  float d_sum[n];
};

/// Where the dot of a token begins, for a block's words from `begin` on.
template <int begin, int offset, int n>
[[gnu::always_inline]] inline int32_t dot_seed(const TokenSums<offset, n>& sums, int token) {
  if constexpr (offset == 0) return dot_origin_bits;
  if constexpr (offset != 0) return sums.seed[begin / 4][token];
}

/// A tile of n tokens: quants and scales of all blocks, then a plane of sums for each offset.
template <int n>
struct TokenTile {
  std::byte* data;
  int64_t blocks;

  [[gnu::always_inline]] TokenBlock<n>* quants() const { return reinterpret_cast<TokenBlock<n>*>(data); }
  template <int offset>
  [[gnu::always_inline]] TokenSums<offset, n>* sums() const {
    static_assert(offset == 0 || offset == 8 || offset == 16 || offset == 128 || offset == 32);
    constexpr int plane = offset == 0 ? 0 : offset == 8 ? 1 : offset == 16 ? 2 : offset == 128 ? 3 : 4;
    std::byte* const first = data + blocks * int64_t(sizeof(TokenBlock<n>));
    return reinterpret_cast<TokenSums<offset, n>*>(first + plane * blocks * n * 4);
  }
};

/// Of one token: quants, scale, and four sums and two.
inline constexpr int64_t token_block_bytes = 32 + 4 + 4 * 4 + 2 * 4;

/// The last tile holds what is left. Rows are a whole number of blocks.
struct Q8Tokens {
  std::byte* data;
  int64_t cols, tokens;

  int64_t blocks() const { return cols / 32; }
  /// Where the tile lies that begins with `token`, a multiple of token_tile.
  [[gnu::always_inline]] std::byte* tile(int64_t token) const {
    return data + token * blocks() * token_block_bytes;
  }
  /// Tokens [first, first + n). A part that does not end with the last token is whole tiles.
  [[gnu::always_inline]] Q8Tokens part(int64_t first, int64_t n) const { return {tile(first), cols, n}; }
};

constexpr size_t q8_token_bytes(int64_t cols, int64_t tokens) {
  return size_t(tokens * (cols / 32) * token_block_bytes);
}

/// Writes blocks [first, first + n) of the tile that begins with `token`; rows holds n blocks of each of its
/// tokens.
void pack_tokens(const Q8Tokens& to, int64_t token, const Q8Rows& rows, int64_t first, int64_t n);

}  // namespace minfer::cpu
