// What the attention kernels share.
#pragma once
#include <metal_stdlib>

/// Stands for the score of a row that a query does not see, and is the maximum before the first row. Finite:
/// infinities would make exp(-inf - -inf) for a query without rows, and fast-math may assume that there are none.
constant constexpr float masked_score = -FLT_MAX / 2;

/// Elements at .. at + 3 of a packed row: blocks of 34 bytes, a half scale and 32 values of 8 bits. `at` is a multiple
/// of 4, so all are of one block. Blocks lie at even addresses only, hence the byte loads.
inline metal::float4 load_q8_0(device const uchar* row, int at) {
  device const uchar* block = row + at / 32 * 34;
  device const char* q = (device const char*)(block + 2 + at % 32);
  const float d = float(*(device const half*)block);
  return metal::float4(float(q[0]), float(q[1]), float(q[2]), float(q[3])) * d;
}
