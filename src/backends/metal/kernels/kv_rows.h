#pragma once
// The three formats of KV rows: how a kernel reads four neighbouring values of a row, and how it writes some.
//
// Rows are addressed in bytes. Reading relies on rows of a multiple of 4 values, which heads of attention
// have; storing does not, and takes values without alignment.

struct RowsF32 {
  static inline float4 load4(device const uchar* row, int column) {
    return *(device const float4*)(row + column * 4);
  }
  static inline void store(device uchar* row, int column, float value) {
    *(device float*)(row + column * 4) = value;
  }
  static inline void store4(device uchar* row, int column, float4 values) {
    *(device packed_float4*)(row + column * 4) = packed_float4(values);
  }
};

struct RowsF16 {
  static inline float4 load4(device const uchar* row, int column) {
    return float4(*(device const half4*)(row + column * 2));
  }
  static inline void store(device uchar* row, int column, float value) {
    *(device half*)(row + column * 2) = half(value);
  }
  static inline void store4(device uchar* row, int column, float4 values) {
    *(device packed_half4*)(row + column * 2) = packed_half4(half4(values));
  }
};

// Blocks of 32 values: a half d, then 32 signed bytes q; a value is q * d, exact in a float. Blocks are 34
// bytes long, so nothing in them is aligned for more than two.
struct RowsQ8_0 {
  static inline float4 load4(device const uchar* row, int column) {
    device const uchar* block = row + column / 32 * 34;
    device const char2* q = (device const char2*)(block + 2 + column % 32);
    const float d = float(*(device const half*)block);
    const char2 low = q[0], high = q[1];
    return d * float4(float(low.x), float(low.y), float(high.x), float(high.y));
  }
};
