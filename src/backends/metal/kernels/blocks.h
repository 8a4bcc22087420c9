#pragma once
// The quantised blocks as kernels read them. quant/NAME.h explains each format; this file gives the same
// bytes as fields that need two-byte alignment at most, because blocks of 18, 22, 34 and 210 bytes follow
// one another without gaps. Wider loads go through packed vectors, which ask for no more.
//
// Included by kernels and by the host; the host only needs the sizes.

#ifdef __METAL__
typedef half BlockHalf;
#else
#include <cstdint>
typedef uint16_t BlockHalf;
#endif

/// x[e] = (q - 8) * d. Byte i holds values i (low nibble) and i + 16 (high).
struct BlockQ4_0 {
  BlockHalf d;
  unsigned char qs[16];
};

/// x[e] = q * d + m. Nibbles as in Q4_0.
struct BlockQ4_1 {
  BlockHalf d, m;
  unsigned char qs[16];
};

/// x[e] = (q - 16) * d. Nibbles as in Q4_0; bit e of qh, low byte first, is the fifth bit of value e.
struct BlockQ5_0 {
  BlockHalf d;
  unsigned char qh[4];
  unsigned char qs[16];
};

/// x[e] = q * d + m. Bits as in Q5_0.
struct BlockQ5_1 {
  BlockHalf d, m;
  unsigned char qh[4];
  unsigned char qs[16];
};

/// x[e] = q * d.
struct BlockQ8_0 {
  BlockHalf d;
  signed char qs[32];
};

/// x[e] = d * scale[e / 32] * q - dmin * min[e / 32]. Scales and minima of 6 bits in twelve bytes; bytes 32g
/// to 32g + 31 of qs hold values 64g to 64g + 31 (low nibbles) and 64g + 32 to 64g + 63 (high).
struct BlockQ4_K {
  BlockHalf d, dmin;
  unsigned char scales[12];
  unsigned char qs[128];
};

/// Q4_K with bit e / 32 of qh[e % 32] as the fifth bit of value e.
struct BlockQ5_K {
  BlockHalf d, dmin;
  unsigned char scales[12];
  unsigned char qh[32];
  unsigned char qs[128];
};

/// x[e] = d * sc[e / 16] * (q - 32). Each half of 128 values has 64 bytes of ql and 32 of qh.
struct BlockQ6_K {
  unsigned char ql[128];
  unsigned char qh[64];
  signed char sc[16];
  BlockHalf d;
};

#define BLOCK_HAS_SIZE(block, bytes) \
  static_assert(sizeof(block) == (bytes) && alignof(block) <= 2, "a block has no padding")
BLOCK_HAS_SIZE(BlockQ4_0, 18);
BLOCK_HAS_SIZE(BlockQ4_1, 20);
BLOCK_HAS_SIZE(BlockQ5_0, 22);
BLOCK_HAS_SIZE(BlockQ5_1, 24);
BLOCK_HAS_SIZE(BlockQ8_0, 34);
BLOCK_HAS_SIZE(BlockQ4_K, 144);
BLOCK_HAS_SIZE(BlockQ5_K, 176);
BLOCK_HAS_SIZE(BlockQ6_K, 210);
#undef BLOCK_HAS_SIZE
