#pragma once
#include <cstddef>

#include "graph/graph.h"

namespace minfer::metal {

/// Whether every value of a weight can be staged as a half, which ends at 65504. Judged by the scales of its
/// blocks and the largest quants there are, so that a weight near the end may be said not to fit.
bool fits_half(const WeightRef& weight, const std::byte* data);

/// Whether a type has weights that fit, and with them kernels that stage halves.
bool may_fit_half(DType type);

}  // namespace minfer::metal
