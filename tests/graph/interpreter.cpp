#include "graph/interpreter.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/error.h"

namespace minfer::test {
namespace {

using Values = std::vector<float>;

template <class T>
std::vector<T> read(Buffer* buffer, int64_t count) {
  std::vector<T> values(static_cast<size_t>(count));
  MINFER_CHECK(memory_of(buffer).size() >= values.size() * sizeof(T), "the value fits its buffer");
  std::memcpy(values.data(), memory_of(buffer).data(), values.size() * sizeof(T));
  return values;
}

void write(Buffer* buffer, size_t offset, const float* values, size_t count) {
  MINFER_CHECK(memory_of(buffer).size() >= (offset + count) * sizeof(float), "the value fits its buffer");
  std::memcpy(memory_of(buffer).data() + offset * sizeof(float), values, count * sizeof(float));
}

float silu(float x) { return float(double(x) / (1.0 + std::exp(-double(x)))); }

Values matmul(const Values& x, int64_t tokens, const MatMul& op, const WeightValues& weight) {
  const Values w = weight(op.weight);
  const Values bias = op.bias ? weight(*op.bias) : Values(size_t(op.weight.rows), 0.0f);
  const size_t cols = size_t(op.weight.cols), rows = size_t(op.weight.rows);
  Values y(size_t(tokens) * rows);
  for (size_t t = 0; t < size_t(tokens); ++t) {
    for (size_t r = 0; r < rows; ++r) {
      double sum = bias[r];
      for (size_t c = 0; c < cols; ++c) sum += double(w[r * cols + c]) * double(x[t * cols + c]);
      y[t * rows + r] = float(sum);
    }
  }
  return y;
}

/// Rows of `width` values, each normalised on its own.
Values rms_norm(Values x, const Values& gain, float eps) {
  const size_t width = gain.size();
  for (size_t at = 0; at < x.size(); at += width) {
    double squares = 0;
    for (size_t i = 0; i < width; ++i) squares += double(x[at + i]) * double(x[at + i]);
    const double factor = 1.0 / std::sqrt(squares / double(width) + double(eps));
    for (size_t i = 0; i < width; ++i) x[at + i] = float(double(x[at + i]) * factor * double(gain[i]));
  }
  return x;
}

Values rope(Values x, const std::vector<int32_t>& positions, const RopeParams& params, int64_t head_dim) {
  const size_t half = size_t(head_dim / 2), width = x.size() / positions.size();
  const bool halves = params.style == RopeStyle::split_half;
  for (size_t at = 0; at < x.size(); at += size_t(head_dim)) {
    const double position = positions[at / width] * double(params.scale);
    for (size_t i = 0; i < half; ++i) {
      const double theta = position * std::pow(double(params.base), -2.0 * double(i) / double(head_dim));
      float& a = x[at + (halves ? i : 2 * i)];
      float& b = x[at + (halves ? i + half : 2 * i + 1)];
      const double a0 = a, b0 = b;
      a = float(a0 * std::cos(theta) - b0 * std::sin(theta));
      b = float(a0 * std::sin(theta) + b0 * std::cos(theta));
    }
  }
  return x;
}

void store(const KvRegions& kv, const Values& k, const Values& v, const std::vector<int32_t>& cells) {
  const size_t width = k.size() / cells.size();
  for (size_t t = 0; t < cells.size(); ++t) {
    write(kv.k, size_t(cells[t]) * width, &k[t * width], width);
    write(kv.v, size_t(cells[t]) * width, &v[t * width], width);
  }
}

/// One head of one token over cells 0 to `last`.
void attend(float* y, const float* q, const Values& k, const Values& v, size_t offset, size_t stride,
            size_t last, const Attention& op) {
  const size_t width = size_t(op.head_dim);
  std::vector<double> weights(last + 1);
  double top = -std::numeric_limits<double>::infinity(), sum = 0;
  for (size_t j = 0; j <= last; ++j) {
    for (size_t i = 0; i < width; ++i) weights[j] += double(q[i]) * double(k[j * stride + offset + i]);
    weights[j] *= double(op.scale);
    top = std::max(top, weights[j]);
  }
  for (double& w : weights) sum += w = std::exp(w - top);
  for (size_t i = 0; i < width; ++i) {
    double out = 0;
    for (size_t j = 0; j <= last; ++j) out += weights[j] / sum * double(v[j * stride + offset + i]);
    y[i] = float(out);
  }
}

struct Interpreter {
  const PlacedNode& placed;
  const WeightValues& weight;

  Values f32(size_t index) const {
    return read<float>(placed.sources[index].buffer, placed.sources[index].desc.elements());
  }
  std::vector<int32_t> i32(size_t index) const {
    return read<int32_t>(placed.sources[index].buffer, placed.sources[index].desc.elements());
  }
  int64_t tokens() const { return placed.sources[0].desc.rows(); }
  template <class F>
  Values pairwise(F f) const {
    Values a = f32(0);
    const Values b = f32(1);
    for (size_t i = 0; i < a.size(); ++i) a[i] = f(a[i], b[i]);
    return a;
  }
  template <class F>
  Values each(F f) const {
    Values a = f32(0);
    for (float& x : a) x = f(x);
    return a;
  }

  Values operator()(const Add&) const {
    return pairwise([](float a, float b) { return a + b; });
  }
  Values operator()(const Mul&) const {
    return pairwise([](float a, float b) { return a * b; });
  }
  Values operator()(const SwiGlu&) const {
    return pairwise([](float a, float b) { return silu(a) * b; });
  }
  Values operator()(const Silu&) const { return each(silu); }
  Values operator()(const Scale& op) const {
    return each([&](float a) { return a * op.factor; });
  }
  Values operator()(const RmsNorm& op) const { return rms_norm(f32(0), weight(op.weight), op.eps); }
  Values operator()(const QkNorm& op) const { return rms_norm(f32(0), weight(op.weight), op.eps); }
  Values operator()(const MatMul& op) const { return matmul(f32(0), tokens(), op, weight); }
  Values operator()(const Rope& op) const { return rope(f32(0), i32(1), op.rope, op.head_dim); }
  Values operator()(const GetRows& op) const {
    const Values rows = op.table ? weight(*op.table) : f32(0);
    const size_t width = size_t(placed.output.desc.cols());
    Values y;
    for (int32_t id : i32(op.table ? 0 : 1)) {
      y.insert(y.end(), rows.begin() + std::ptrdiff_t(size_t(id) * width),
               rows.begin() + std::ptrdiff_t((size_t(id) + 1) * width));
    }
    return y;
  }
  Values operator()(const KvStore&) const {
    store(placed.kv, f32(0), f32(1), i32(2));
    return {};
  }
  Values operator()(const KvLoad&) const { return {}; }
  Values operator()(const Attention& op) const {
    const size_t stride = size_t(op.n_kv_heads * op.head_dim), width = size_t(op.head_dim);
    const Values q = f32(0);
    const Values k = read<float>(placed.kv.k, placed.n_ctx * int64_t(stride));
    const Values v = read<float>(placed.kv.v, placed.n_ctx * int64_t(stride));
    const auto positions = i32(2);
    Values y(q.size());
    for (size_t t = 0; t < positions.size(); ++t) {
      for (size_t h = 0; h < size_t(op.n_heads); ++h) {
        const size_t at = (t * size_t(op.n_heads) + h) * width;
        const size_t group = h / size_t(op.n_heads / op.n_kv_heads);
        attend(&y[at], &q[at], k, v, group * width, stride, size_t(positions[t]), op);
      }
    }
    return y;
  }
  Values operator()(const FusedQkv& op) const { return fused_qkv(op, nullptr); }
  Values operator()(const FusedQkvNorm& op) const { return fused_qkv(op.qkv, &op); }
  Values operator()(const FusedFfn& op) const {
    const Values x = f32(0);
    Values y = matmul(x, 1, {op.gate, {}}, weight);
    const Values up = matmul(x, 1, {op.up, {}}, weight);
    for (size_t i = 0; i < y.size(); ++i) y[i] = silu(y[i]) * up[i];
    // Behind the result there is scratch, which nobody may read.
    y.resize(2 * y.size(), std::numeric_limits<float>::quiet_NaN());
    return y;
  }
  template <class Other>
  Values operator()(const Other&) const {
    MINFER_CHECK(false, "supports() refused this op");
    return {};
  }

  Values fused_qkv(const FusedQkv& op, const FusedQkvNorm* norms) const {
    const Values x = f32(0);
    Values q = matmul(x, 1, op.q, weight), k = matmul(x, 1, op.k, weight);
    const Values v = matmul(x, 1, op.v, weight);
    if (norms) {
      q = rms_norm(q, weight(norms->q_norm), norms->eps);
      k = rms_norm(k, weight(norms->k_norm), norms->eps);
    }
    q = rope(q, i32(1), op.rope, op.head_dim);
    k = rope(k, i32(1), op.rope, op.head_dim);
    store(placed.kv, k, v, i32(2));
    q.resize(q.size() + 2 * k.size(), std::numeric_limits<float>::quiet_NaN());
    return q;
  }
};

}  // namespace

Support interpretable(const Op& op) {
  const bool known = !std::holds_alternative<Softmax>(op) && !std::holds_alternative<View>(op) &&
                     !std::holds_alternative<Reshape>(op) && !std::holds_alternative<Permute>(op) &&
                     !std::holds_alternative<QkvBiasRopeStore>(op);
  return known ? Support::yes() : Support::no("no loop for " + std::string(op_name(op)));
}

void interpret(const PlacedNode& placed, const WeightValues& weight) {
  const Op& op = placed.node->op;
  const bool may = std::holds_alternative<Silu>(op) || std::holds_alternative<SwiGlu>(op) ||
                   std::holds_alternative<Rope>(op);
  const bool in_place = may && placed.output.buffer == placed.sources[0].buffer;
  const bool is_region = std::holds_alternative<KvStore>(op) || std::holds_alternative<KvLoad>(op);
  if (!in_place && !is_region) {
    auto& memory = memory_of(placed.output.buffer);
    std::fill(memory.begin(), memory.end(), std::byte{0xff});  // every f32 a NaN
  }
  const Values y = std::visit(Interpreter{placed, weight}, op);
  if (is_region) return;
  MINFER_CHECK(int64_t(y.size()) == placed.output.desc.elements(), "an op gives what its shape rule says");
  write(placed.output.buffer, 0, y.data(), y.size());
}

}  // namespace minfer::test
