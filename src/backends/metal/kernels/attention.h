// What the attention kernels share.
#pragma once

/// The score of a row that a query does not see, and the maximum of no rows. Finite, since fast-math forgets infinities:
/// exp(lowest - m) is 0 and lowest - lowest is 0.
constant constexpr float lowest_score = -0.5f * FLT_MAX;
