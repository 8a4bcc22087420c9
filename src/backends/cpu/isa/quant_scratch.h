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

/// Quants of tokens that stay in the second-level cache while all rows pass by: many, since every pass over
/// the rows unpacks them anew.
inline constexpr int64_t strip_quants = 512 << 10;
/// Tokens that go over the rows at once.
constexpr int64_t strip_tokens(int64_t cols) {
  const int64_t tokens = strip_quants / cols / 16 * 16;
  return tokens < 16 ? 16 : tokens;
}

}  // namespace minfer::cpu
