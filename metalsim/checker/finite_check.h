/// Search for NaN and infinity among the values that a dispatch has written.
#pragma once
#include "../runtime/abi.h"

namespace metalsim {

/// Looks at the bytes this dispatch wrote through parameters of float, half or bfloat (or vectors of them),
/// and reports values that are not finite, with the line that wrote them. What a kernel writes through a cast
/// pointer is seen as the parameter's type.
void check_finite_results(const Dispatch& dispatch);

}  // namespace metalsim
