// What the attention kernels share.
#pragma once
#include <metal_stdlib>

/// Stands for the score of a row that a query does not see, and is the maximum before the first row. Finite:
/// infinities would make exp(-inf - -inf) for a query without rows, and fast-math may assume that there are none.
constant constexpr float masked_score = -FLT_MAX / 2;
