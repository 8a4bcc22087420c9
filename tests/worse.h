#pragma once
#include <cmath>
#include <limits>

namespace minfer::test {

/// The larger of two errors. One that is no number is the worst there is, where std::max would pass over it.
inline double worse(double worst, double error) {
  if (std::isnan(error)) return std::numeric_limits<double>::infinity();
  return error > worst ? error : worst;
}

}  // namespace minfer::test
