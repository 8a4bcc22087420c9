#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "backends/cpu/isa/exp_constants.h"
#include "backends/cpu/isa/quant_blocks.h"
#include "backends/cpu/isa/scalar_quant.h"
#include "backends/cpu/isa/tables.h"
#include "base/fp16.h"

/// The float kernels in plain loops: what every other table must equal bit for bit.
namespace minfer::cpu {

float exp_f32(float x) {
  using namespace exp_constants;
  if (std::isnan(x)) return x;
  if (x > overflow_above) return std::numeric_limits<float>::infinity();
  if (x < underflow_below) return 0.0f;
  const float n = std::fma(x, log2_e, round_magic) - round_magic;
  float r = std::fma(n, -ln2_high, x);
  r = std::fma(n, -ln2_low, r);
  float p = c6;
  for (const float c : {c5, c4, c3, c2, 1.0f, 1.0f}) p = std::fma(p, r, c);
  // 2^n in two factors: n reaches 128 and -150, where 2^n itself is no normal float.
  const int half = int(n) >> 1;
  const auto pow2 = [](int e) { return std::bit_cast<float>(uint32_t(e + 127) << 23); };
  return p * pow2(half) * pow2(int(n) - half);
}

namespace scalar {
namespace {

constexpr int lanes = 16;
constexpr float minus_infinity = -std::numeric_limits<float>::infinity();

/// The second of two equal values; NaN if either is NaN.
float max_f32(float a, float b) { return a > b || std::isnan(a) ? a : b; }

/// Sixteen accumulators and the fixed order in which they are combined.
struct Lanes {
  float lane[lanes];

  explicit Lanes(float start) {
    for (float& l : lane) l = start;
  }
  float& operator[](int64_t element) { return lane[element % lanes]; }

  float sum() {
    for (int step = lanes / 2; step > 0; step /= 2) {
      for (int i = 0; i < step; ++i) lane[i] = lane[i] + lane[i + step];
    }
    return lane[0];
  }
  float max() {
    for (int step = lanes / 2; step > 0; step /= 2) {
      for (int i = 0; i < step; ++i) lane[i] = max_f32(lane[i], lane[i + step]);
    }
    return lane[0];
  }
};

float dot(const float* a, const float* b, int64_t n) {
  Lanes acc(0.0f);
  for (int64_t i = 0; i < n; ++i) acc[i] = std::fma(a[i], b[i], acc[i]);
  return acc.sum();
}

float sum(const float* x, int64_t n) {
  Lanes acc(0.0f);
  for (int64_t i = 0; i < n; ++i) acc[i] = acc[i] + x[i];
  return acc.sum();
}

float max(const float* x, int64_t n) {
  Lanes acc(minus_infinity);
  for (int64_t i = 0; i < n; ++i) acc[i] = max_f32(acc[i], x[i]);
  return acc.max();
}

bool runs_here() { return true; }

void store_f16(uint16_t* dst, const float* x, int64_t n) {
  for (int64_t i = 0; i < n; ++i) dst[i] = f32_to_f16(x[i]);
}

void load_f16(float* dst, const uint16_t* src, int64_t n) {
  for (int64_t i = 0; i < n; ++i) dst[i] = f16_to_f32(src[i]);
}

float widen(float w) { return w; }
struct Half {
  uint16_t bits;
};
float widen(Half w) { return f16_to_f32(w.bits); }
struct BFloat {
  uint16_t bits;
};
float widen(BFloat w) { return bf16_to_f32(w.bits); }

template <class Weight>
void matmul(float* y, int64_t y_stride, const std::byte* w, size_t w_row_bytes, int64_t rows, const float* x,
            int64_t x_stride, int64_t cols, int64_t tokens) {
  for (int64_t r = 0; r < rows; ++r) {
    const auto* row = reinterpret_cast<const Weight*>(w + size_t(r) * w_row_bytes);
    for (int64_t t = 0; t < tokens; ++t) {
      Lanes acc(0.0f);
      for (int64_t i = 0; i < cols; ++i) acc[i] = std::fma(widen(row[i]), x[t * x_stride + i], acc[i]);
      y[t * y_stride + r] = acc.sum();
    }
  }
}

void rms_norm_f32(float* y, const float* x, const float* w, int64_t n, float eps) {
  const float inverse = 1.0f / std::sqrt(dot(x, x, n) / float(n) + eps);
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] * inverse * w[i];
}

void add_f32(float* y, const float* a, const float* b, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = a[i] + b[i];
}

void mul_f32(float* y, const float* a, const float* b, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = a[i] * b[i];
}

void scale_f32(float* y, const float* x, float factor, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] * factor;
}

float silu(float x) { return x / (1.0f + exp_f32(-x)); }

void silu_f32(float* y, const float* x, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = silu(x[i]);
}

void swiglu_f32(float* y, const float* gate, const float* up, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = silu(gate[i]) * up[i];
}

void softmax_f32(float* y, const float* x, int64_t n) {
  const float highest = max(x, n);
  for (int64_t i = 0; i < n; ++i) y[i] = exp_f32(x[i] - highest);
  const float inverse = 1.0f / sum(y, n);
  for (int64_t i = 0; i < n; ++i) y[i] = y[i] * inverse;
}

void rope_f32(float* x, const float* cos, const float* sin, int64_t n_heads, int64_t head_dim,
              bool interleaved) {
  const int64_t half = head_dim / 2;
  for (int64_t h = 0; h < n_heads; ++h, x += head_dim) {
    for (int64_t i = 0; i < half; ++i) {
      float& first = interleaved ? x[2 * i] : x[i];
      float& second = interleaved ? x[2 * i + 1] : x[i + half];
      const float a = first, b = second;
      first = std::fma(a, cos[i], -(b * sin[i]));
      second = std::fma(a, sin[i], b * cos[i]);
    }
  }
}

/// Element i of a row of keys or values.
float kv_value(DType type, const std::byte* row, int64_t i) {
  if (type == DType::f32) return reinterpret_cast<const float*>(row)[i];
  if (type == DType::f16) return f16_to_f32(reinterpret_cast<const uint16_t*>(row)[i]);
  using L = layout::Q8_0;
  const std::byte* block = row + i / 32 * L::bytes;
  uint16_t d;
  std::memcpy(&d, block + L::d, sizeof d);
  return f16_to_f32(d) * float(int8_t(block[L::quants + i % 32]));
}

/// attend for one query that sees `visible` > 0 rows.
void attend_query(const float* q, const KvTile& tile, int64_t visible, int64_t head_dim, float scale,
                  float& m, float& s, float* o) {
  const auto at = [&](const std::byte* rows, int64_t j, int64_t i) {
    return kv_value(tile.type, rows + size_t(j) * tile.stride, i);
  };
  float p[attn_tile_rows];
  for (int64_t j = 0; j < visible; ++j) {
    Lanes acc(0.0f);
    for (int64_t i = 0; i < head_dim; ++i) acc[i] = std::fma(at(tile.k, j, i), q[i], acc[i]);
    p[j] = acc.sum() * scale;
  }
  const float new_m = max_f32(m, max(p, visible));
  const float carry = m == minus_infinity ? 0.0f : exp_f32(m - new_m);
  for (int64_t j = 0; j < visible; ++j) p[j] = exp_f32(p[j] - new_m);
  m = new_m;
  s = s * carry + sum(p, visible);
  for (int64_t i = 0; i < head_dim; ++i) {
    float acc = o[i] * carry;
    for (int64_t j = 0; j < visible; ++j) acc = std::fma(p[j], at(tile.v, j, i), acc);
    o[i] = acc;
  }
}

void attend(const float* q, int64_t q_stride, int64_t n_q, const KvTile& tile, int64_t head_dim, float scale,
            const int32_t* visible, float* m, float* s, float* o, int64_t o_stride) {
  for (int64_t i = 0; i < n_q; ++i) {
    if (visible[i] == 0) continue;
    attend_query(q + i * q_stride, tile, visible[i], head_dim, scale, m[i], s[i], o + i * o_stride);
  }
}

/// Plain loops want the queries as they are.
int64_t laid_stride(int64_t head_dim) { return (head_dim + lanes - 1) / lanes * lanes; }

void lay_queries(float* laid, const float* q, int64_t q_stride, int64_t n, int64_t head_dim) {
  for (int64_t i = 0; i < n; ++i) {
    std::memcpy(laid + i * laid_stride(head_dim), q + i * q_stride, size_t(head_dim) * sizeof(float));
  }
}

void attend_wide(const float* laid, int64_t n_q, const KvTile& tile, int64_t head_dim, float scale,
                 const int32_t* visible, float* m, float* s, float* o, int64_t o_stride) {
  attend(laid, laid_stride(head_dim), n_q, tile, head_dim, scale, visible, m, s, o, o_stride);
}

void attend_merge_f32(float* m, float* s, float* o, float m2, float s2, const float* o2, int64_t head_dim) {
  if (m2 == minus_infinity) return;
  const float new_m = max_f32(*m, m2);
  const float a = *m == minus_infinity ? 0.0f : exp_f32(*m - new_m);
  const float b = exp_f32(m2 - new_m);
  *m = new_m;
  *s = std::fma(s2, b, *s * a);
  for (int64_t i = 0; i < head_dim; ++i) o[i] = std::fma(o2[i], b, o[i] * a);
}

}  // namespace

constinit const KernelTable table = {
    .isa = "scalar",
    .runs_here = runs_here,
    .quantise_q8 = quantise_q8,
    .store_q8_0 = store_q8_0,
    .store_f16 = store_f16,
    .load_f16 = load_f16,
    .load_q8_0 = load_q8_0,
    .matmul_q4_0 = matmul_q4_0,
    .matmul_q4_1 = matmul_q4_1,
    .matmul_q5_0 = matmul_q5_0,
    .matmul_q5_1 = matmul_q5_1,
    .matmul_q8_0 = matmul_q8_0,
    .matmul_q4_k = matmul_q4_k,
    .matmul_q5_k = matmul_q5_k,
    .matmul_q6_k = matmul_q6_k,
    .matmul_f32 = matmul<float>,
    .matmul_f16 = matmul<Half>,
    .matmul_bf16 = matmul<BFloat>,
    .rms_norm_f32 = rms_norm_f32,
    .add_f32 = add_f32,
    .mul_f32 = mul_f32,
    .scale_f32 = scale_f32,
    .silu_f32 = silu_f32,
    .swiglu_f32 = swiglu_f32,
    .softmax_f32 = softmax_f32,
    .rope_f32 = rope_f32,
    .attend = attend,
    .lay_queries = lay_queries,
    .attend_wide = attend_wide,
    .attend_merge_f32 = attend_merge_f32,
};

}  // namespace scalar
}  // namespace minfer::cpu
