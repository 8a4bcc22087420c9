#pragma once
#include <cstddef>
#include <cstdint>

/// How much memory a tile's unpacked weights take and how many tokens go over them at once, in every
/// instruction set.
namespace minfer::cpu {

inline constexpr int64_t panel_rows = 16;  ///< most rows a panel holds
/// Blocks of 32 columns a panel holds, which then stays in the first-level cache; longer rows take turns.
inline constexpr int64_t panel_blocks = 32;
/// Bytes of one row's block: 32 quants, a scale, its origin, and a minimum or a second scale.
inline constexpr int64_t panel_row_block_bytes = 32 + 3 * 4;
constexpr size_t panel_bytes(int64_t cols) {
  const int64_t blocks = cols / 32 < panel_blocks ? cols / 32 : panel_blocks;
  return size_t(panel_rows * panel_row_block_bytes * blocks);
}

/// Quants of tokens that stay in the second-level cache while rows of floats pass by.
inline constexpr int64_t strip_quants = 512 << 10;
/// Tokens that go over such rows at once, and `quants` of them in all.
constexpr int64_t strip_tokens(int64_t cols, int64_t quants = strip_quants) {
  const int64_t tokens = quants / cols / 16 * 16;
  return tokens < 16 ? 16 : tokens;
}

/// Tokens that go over panels at once. Of their quants only a panel's columns count, since the next columns
/// have their turn after all rows of a strip; with scales and seeds they are nearly twice the bytes, and sums
/// need room beside them. Many, since every pass over the rows unpacks them anew.
constexpr int64_t panel_tokens(int64_t cols) {
  return strip_tokens(cols < 32 * panel_blocks ? cols : 32 * panel_blocks, 256 << 10);
}
/// Rows that pass by before the next columns' turn: their sums stay in the second-level cache, too.
inline constexpr int64_t strip_rows = 128;
static_assert(strip_rows % panel_rows == 0);

}  // namespace minfer::cpu
