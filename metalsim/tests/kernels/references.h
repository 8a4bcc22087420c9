/// The test kernels' results by plain loops in double, with the data they work on.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "kernels/common.h"

namespace metalsim::test {

inline float from_half(uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const float magnitude =
      exponent ? std::ldexp(float(fraction | 1024), exponent - 25) : std::ldexp(float(fraction), -24);
  return bits & 0x8000 ? -magnitude : magnitude;
}

/// Bits of the half nearest below in magnitude: good enough for making data.
inline uint16_t to_half(float value) {
  int exponent;
  const float fraction = std::frexp(std::fabs(value), &exponent);  // in [0.5, 1)
  if (value == 0 || exponent < -13) return 0;
  return uint16_t((value < 0 ? 0x8000 : 0) | (exponent + 14) << 10 | (int(fraction * 2048) & 1023));
}

class Data {
 public:
  explicit Data(uint32_t seed) : random_(seed) {}
  float uniform() { return std::uniform_real_distribution<float>(-1, 1)(random_); }
  void fill(float* values, size_t count, float scale = 1) {
    for (size_t i = 0; i < count; ++i) values[i] = uniform() * scale;
  }
  void fill_half(uint16_t* values, size_t count, float scale) {
    for (size_t i = 0; i < count; ++i) values[i] = to_half(uniform() * scale);
  }
  template <class Block>
  void fill_blocks(Block* blocks, size_t count, float scale) {
    for (size_t i = 0; i < count; ++i) {
      blocks[i].d = to_half(uniform() * scale);
      for (auto& q : blocks[i].qs) q = static_cast<std::remove_reference_t<decltype(q)>>(random_());
    }
  }

 private:
  std::mt19937 random_;
};

inline double weight(const block_q4_0& block, int i) {
  return from_half(block.d) * ((i < 16 ? block.qs[i] & 15 : block.qs[i - 16] >> 4) - 8);
}
inline double weight(const block_q8_0& block, int i) { return double(from_half(block.d)) * block.qs[i]; }

/// C[n, m] = sum over k of B[n, k] A[m, k]
template <class Block>
std::vector<double> multiply(const Block* a, const float* b, int M, int K, int N) {
  std::vector<double> c(size_t(N) * M);
  for (int n = 0; n < N; ++n)
    for (int m = 0; m < M; ++m) {
      double sum = 0;
      for (int k = 0; k < K; ++k) sum += weight(a[(size_t(m) * K + k) / 32], k % 32) * b[size_t(n) * K + k];
      c[size_t(n) * M + m] = sum;
    }
  return c;
}

/// Attention of `queries` positions, the last of `args.n_kv`, each seeing those up to itself if causal.
inline std::vector<double> attention(const fa_args& args, const float* q, const uint16_t* k,
                                     const uint16_t* v, int queries, int D, bool causal) {
  std::vector<double> out(size_t(queries) * args.n_head * D);
  for (int i = 0; i < queries; ++i)
    for (int h = 0; h < args.n_head; ++h) {
      const int seen = causal ? args.n_kv - queries + i + 1 : args.n_kv;
      const int kv_head = h / (args.n_head / args.n_head_kv);
      const size_t row = (size_t(i) * args.n_head + h) * D;
      std::vector<double> p(seen);
      double most = -INFINITY, sum = 0;
      for (int j = 0; j < seen; ++j) {
        double s = 0;
        for (int d = 0; d < D; ++d)
          s += q[row + d] * double(from_half(k[size_t(j) * args.ld_kv + kv_head * D + d]));
        most = std::max(most, p[j] = s * args.scale);
      }
      for (double& s : p) sum += s = std::exp(s - most);
      for (int d = 0; d < D; ++d) {
        double o = 0;
        for (int j = 0; j < seen; ++j) o += p[j] * from_half(v[size_t(j) * args.ld_kv + kv_head * D + d]);
        out[row + d] = o / sum;
      }
    }
  return out;
}

}  // namespace metalsim::test
