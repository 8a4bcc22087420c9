#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

/// The ops in double, from their formulas, with none of the engine's code.
namespace minfer::reference {

using Doubles = std::vector<double>;

inline Doubles widen(const std::vector<float>& x) { return {x.begin(), x.end()}; }

inline double silu(double x) { return x / (1.0 + std::exp(-x)); }

/// Rows of `width` values: x * w / sqrt(mean(x^2) + eps).
inline Doubles rms_norm(const std::vector<float>& x, const std::vector<float>& w, double eps) {
  const size_t width = w.size();
  Doubles y(x.size());
  for (size_t row = 0; row < x.size(); row += width) {
    double sum = 0;
    for (size_t i = 0; i < width; ++i) sum += double(x[row + i]) * double(x[row + i]);
    const double root = std::sqrt(sum / double(width) + eps);
    for (size_t i = 0; i < width; ++i) y[row + i] = double(x[row + i]) / root * double(w[i]);
  }
  return y;
}

/// One row.
inline Doubles softmax(const Doubles& x) {
  if (x.empty()) return {};
  const double most = *std::max_element(x.begin(), x.end());
  Doubles y;
  double sum = 0;
  for (double value : x) sum += y.emplace_back(std::exp(value - most));
  for (double& value : y) value /= sum;
  return y;
}

struct Dot {
  double value, magnitude;  ///< sum of w*x and of |w*x|
};
inline Dot dot(const float* w, const float* x, size_t n) {
  Dot d{0, 0};
  for (size_t i = 0; i < n; ++i) {
    d.value += double(w[i]) * double(x[i]);
    d.magnitude += std::abs(double(w[i]) * double(x[i]));
  }
  return d;
}

/// Rotates one head at one position.
inline Doubles rope(const float* x, int64_t head_dim, bool interleaved, double base, double scale,
                    const std::vector<float>& factors, int64_t position) {
  Doubles y(static_cast<size_t>(head_dim));
  const int64_t pairs = head_dim / 2;
  for (int64_t i = 0; i < pairs; ++i) {
    const int64_t a = interleaved ? 2 * i : i, b = interleaved ? 2 * i + 1 : i + pairs;
    const double factor = factors.empty() ? 1.0 : double(factors[size_t(i)]);
    const double theta =
        double(position) * scale * std::pow(base, -2.0 * double(i) / double(head_dim)) / factor;
    y[size_t(a)] = double(x[a]) * std::cos(theta) - double(x[b]) * std::sin(theta);
    y[size_t(b)] = double(x[a]) * std::sin(theta) + double(x[b]) * std::cos(theta);
  }
  return y;
}

/// One query head over the rows `cells` of k and v (head's column `column`, rows of `kv_dim`).
struct Attended {
  Doubles value;
  double score_magnitude;  ///< largest scale * sum |q k|
  double range;            ///< largest minus smallest score
  double v_most;
};
inline Attended attention(const float* q, const std::vector<float>& k, const std::vector<float>& v,
                          const std::vector<int64_t>& cells, int64_t column, int64_t kv_dim, int64_t head_dim,
                          double scale) {
  Attended out{Doubles(size_t(head_dim), 0.0), 0, 0, 0};
  Doubles scores;
  for (int64_t cell : cells) {
    const Dot d = dot(k.data() + cell * kv_dim + column, q, size_t(head_dim));
    scores.push_back(d.value * scale);
    out.score_magnitude = std::max(out.score_magnitude, d.magnitude * scale);
  }
  if (scores.empty()) return out;
  const auto [low, high] = std::minmax_element(scores.begin(), scores.end());
  out.range = *high - *low;
  const Doubles weights = softmax(scores);
  for (size_t j = 0; j < cells.size(); ++j) {
    for (int64_t i = 0; i < head_dim; ++i) {
      const double value = double(v[size_t(cells[j] * kv_dim + column + i)]);
      out.v_most = std::max(out.v_most, std::abs(value));
      out.value[size_t(i)] += weights[j] * value;
    }
  }
  return out;
}

}  // namespace minfer::reference
