#pragma once
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "metal/metal_device.h"
#include "ops/reference.h"
#include "tolerance.h"
#include "worse.h"

/// What the tests of matrix-vector products share.
namespace minfer::test {

inline constexpr DType all_types[] = {DType::f32,  DType::f16,  DType::bf16, DType::q4_0,
                                      DType::q4_1, DType::q5_0, DType::q5_1, DType::q8_0,
                                      DType::q4_k, DType::q5_k, DType::q6_k};

/// Backends made while it lives keep every product on the matrix-vector kernels.
class WithoutGemm {
 public:
  WithoutGemm() { setenv("MINFER_GEMM", "0", 1); }
  ~WithoutGemm() { unsetenv("MINFER_GEMM"); }
};

/// The first `tokens` rows.
inline std::vector<float> first_tokens(const std::vector<float>& x, int64_t cols, int64_t tokens) {
  return {x.begin(), x.begin() + cols * tokens};
}

/// The largest error over its bound, of y = W x.
inline double worst_matvec_ratio(const std::vector<float>& weights, const std::vector<float>& x,
                                 const std::vector<float>& y, int64_t cols, int64_t rows) {
  double worst = 0;
  for (int64_t t = 0; t < int64_t(x.size()) / cols; ++t) {
    const float* input = x.data() + t * cols;
    double sum = 0;
    for (int64_t c = 0; c < cols; ++c) sum += std::abs(double(input[c]));
    for (int64_t r = 0; r < rows; ++r) {
      const float* row = weights.data() + r * cols;
      double most = 0;
      for (int64_t c = 0; c < cols; ++c) most = std::max(most, std::abs(double(row[c])));
      const double error =
          std::abs(double(y[size_t(t * rows + r)]) - reference::dot(row, input, size_t(cols)).value);
      worst = worse(worst, error / tol::metal_matvec(double(cols), most * sum));
    }
  }
  return worst;
}

}  // namespace minfer::test
