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

namespace metalsim::tol {

/// Units in the last place of the result's type, on top of the reference's own rounding.
struct Ulps {
  double count;
  const char* why;
};

/// The C library's float functions are within 2 ulp; Metal's own bounds for precise math are 4 ulp and more
/// (Metal Shading Language Specification, numerical compliance).
inline constexpr Ulps float_function{4, "the C library's float functions; Metal allows 4 ulp and more"};
/// Fast-math may replace a division or square root by an estimate and a Newton step.
inline constexpr Ulps float_quotient{
    3, "division and square root, which fast-math may form by an estimate and a step"};
/// A correctly rounded operation: IEEE 754's basic operations, fma, and what selects or moves a value.
inline constexpr Ulps exact{0, "one rounding, or none"};
/// A half or bfloat function is computed in float and rounded once: next to a tie the float's error decides.
inline constexpr Ulps narrow_function{1, "computed in float with an error of its own, then rounded once"};
/// Vector functions of a few products: each of at most 5 operations rounds once, relative to the largest
/// term.
inline constexpr Ulps geometric{8, "sums of up to 4 products, and a square root"};

/// 8 products summed in float, then one rounding to the result: 8 ulp of float relative to the sum of
/// magnitudes, and half an ulp of the result's type (tested separately).
inline constexpr Ulps matrix_product{8, "a sum of 9 terms in float"};

}  // namespace metalsim::tol
