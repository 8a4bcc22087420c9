#pragma once
#include <cstddef>
#include <cstdint>

/// Where the fields of each block format stand, in bytes from the block's start. Blocks have no alignment.
/// The legacy formats hold 32 elements: element e < 16 is the low nibble of byte e, element 16 + e its high
/// one.
namespace minfer::cpu::layout {

struct Q4_0 {
  static constexpr int bytes = 18, d = 0, nibbles = 2;
};
struct Q4_1 {
  static constexpr int bytes = 20, d = 0, m = 2, nibbles = 4;
};
struct Q5_0 {  // bit e of `high` (u32) is the fifth bit of element e
  static constexpr int bytes = 22, d = 0, high = 2, nibbles = 6;
};
struct Q5_1 {
  static constexpr int bytes = 24, d = 0, m = 2, high = 4, nibbles = 8;
};
struct Q8_0 {
  static constexpr int bytes = 34, d = 0, quants = 2;
};

/// 256 elements in eight sub-blocks of 32. Byte 32g + e of `nibbles` holds element e of sub-block 2g (low)
/// and of sub-block 2g + 1 (high). `scales`: twelve bytes, s: sub-block j < 4 has scale s[j] & 63 and minimum
/// s[j+4] & 63; j >= 4 has their low nibbles in s[j+4] and their upper two bits on top of s[j-4] and s[j].
struct Q4_K {
  static constexpr int bytes = 144, d = 0, dmin = 2, scales = 4, nibbles = 16;
};
struct Q5_K {  // bit j of high[e] is the fifth bit of element e of sub-block j
  static constexpr int bytes = 176, d = 0, dmin = 2, scales = 4, high = 16, nibbles = 48;
};

/// 256 elements in two halves of 128, each four sub-blocks of 32. In half h, element e of sub-block j takes
/// its low four bits from byte 64h + 32(j & 1) + e of `low` (the high nibble if j >= 2) and bits 2j, 2j + 1
/// of byte 32h + e of `high` above them. `scales`: sixteen i8, one per 16 elements in order.
struct Q6_K {
  static constexpr int bytes = 210, low = 0, high = 128, scales = 192, d = 208;
};

}  // namespace minfer::cpu::layout
