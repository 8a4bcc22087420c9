#pragma once
#include <cstddef>
#include <cstdint>

/// How a tile of many tokens holds unpacked weights, in every instruction set.
namespace minfer::cpu {

inline constexpr int64_t panel_rows = 32;  ///< most rows a panel holds
/// Blocks of 32 columns a panel holds, which then stays in the first-level cache; longer rows take turns.
inline constexpr int64_t panel_blocks = 32;
/// Bytes of one row's block: 32 quants, and a scale and a minimum, or a scale and two factors.
inline constexpr int64_t panel_row_block_bytes = 32 + 3 * 4;
constexpr size_t panel_bytes(int64_t cols) {
  const int64_t blocks = cols / 32 < panel_blocks ? cols / 32 : panel_blocks;
  return size_t(panel_rows * panel_row_block_bytes * blocks);
}

/// Tokens of which a call prepares two integers a block at once, behind the panel.
constexpr int64_t seed_tokens(int64_t cols) {
  const int64_t tokens = (int64_t(512) << 10) / cols;
  return tokens < 16 ? 16 : tokens;
}
constexpr size_t seed_bytes(int64_t cols) {
  return size_t(seed_tokens(cols) * (cols / 32)) * 2 * sizeof(int32_t);
}

}  // namespace minfer::cpu
