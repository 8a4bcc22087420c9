/// What a correct kernel may differ by from its reference, and why.
#pragma once
#include <cmath>
#include <cstdint>

namespace metalsim::tolerance {

inline constexpr double float_epsilon = 0x1p-24;  ///< half a unit in the last place of float
inline constexpr double half_epsilon = 0x1p-11;   ///< and of half

/// A float sum of n terms in any order errs by at most n units of rounding of the sum of magnitudes, and
/// rarely by more than their root; 4 covers the roundings of each term. (Higham, Accuracy and Stability of
/// Numerical Algorithms, ch. 4.)
inline double float_sum(int64_t n) { return (4 * std::sqrt(double(n)) + 4) * float_epsilon; }

/// The same with both factors of each term rounded to half before.
inline double half_product_sum(int64_t n) { return 4 * half_epsilon + float_sum(n); }

}  // namespace metalsim::tolerance
