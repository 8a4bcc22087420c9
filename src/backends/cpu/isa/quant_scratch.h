#pragma once
#include <cstdint>

/// How a tile of many tokens holds unpacked weights, in every instruction set.
namespace minfer::cpu {

inline constexpr int64_t panel_rows = 32;     ///< most rows a panel holds
inline constexpr int64_t panel_blocks = 128;  ///< blocks of 32 columns a panel holds; longer rows take turns
/// Bytes of one row's block: 32 quants, and a scale and a minimum, or a scale and two factors.
inline constexpr int64_t panel_row_block_bytes = 32 + 3 * 4;

}  // namespace minfer::cpu
