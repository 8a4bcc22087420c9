#pragma once
#include <cstdint>

#include "backends/cpu/isa/exp_constants.h"

/// The float kernels over sixteen lanes, written once. V is an instruction set's Vec16; isa/scalar.cpp has
/// the same kernels in plain loops, and each of these must equal them bit for bit.
///
/// exp and the like are forced inline: as calls they would pass their vectors through memory.
///
/// Only templates over V stand here: a plain inline function would be one symbol for all instruction sets,
/// and the linker might keep the copy that the processor cannot run.
namespace minfer::cpu {

inline constexpr int lanes = 16;
inline constexpr float infinity = __builtin_inff();
inline constexpr float lowest = -__FLT_MAX__;  ///< only minus infinity is below

/// exp_f32 of sixteen lanes.
template <class V>
[[gnu::always_inline]] inline V exp16(V x) {
  using namespace exp_constants;
  const V magic = V::splat(round_magic);
  const V n = V::sub(V::fma(x, V::splat(log2_e), magic), magic);
  V r = V::fma(n, V::splat(-ln2_high), x);
  r = V::fma(n, V::splat(-ln2_low), r);
  V p = V::splat(c6);
  constexpr float coefficients[] = {c5, c4, c3, c2, 1.0f, 1.0f};
  for (const float c : coefficients) p = V::fma(p, r, V::splat(c));
  p = V::scale_pow2(p, n);
  p = V::replace_above(p, x, overflow_above, V::splat(infinity));
  return V::replace_below(p, x, underflow_below, V::splat(0.0f));
}

/// exp_f32 of one value: lane 0 of the vectors.
template <class V>
float exp1(float x) {
  float lane[lanes];
  V::store(lane, exp16(V::splat(x)));
  return lane[0];
}

template <class V>
float max1(float a, float b) {
  return a > b || a != a ? a : b;
}

/// y[i] = f(x[i]...) for lane-wise f; the ragged tail takes the same f. By reference, since f may hold vectors: under
/// AddressSanitizer clang 19 copies those to a stack that is not aligned for them.
template <class V, class F>
void map_lanes(float* y, const float* x, int64_t n, const F& f) {
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) V::store(y + i, f(V::load(x + i)));
  const int rest = int(n - i);
  if (rest != 0) V::store_first(y + i, f(V::load_first(x + i, rest)), rest);
}

template <class V, class F>
void map_lanes(float* y, const float* a, const float* b, int64_t n, const F& f) {
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) V::store(y + i, f(V::load(a + i), V::load(b + i)));
  const int rest = int(n - i);
  if (rest != 0) V::store_first(y + i, f(V::load_first(a + i, rest), V::load_first(b + i, rest)), rest);
}

/// Folds x into sixteen lanes: acc = f(acc, x[i..i+15]); a ragged tail changes the first lanes only.
template <class V, class F>
V fold_lanes(const float* x, int64_t n, V acc, F f) {
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) acc = f(acc, V::load(x + i));
  const int rest = int(n - i);
  if (rest != 0) acc = V::select_first(f(acc, V::load_first(x + i, rest)), acc, rest);
  return acc;
}

template <class V>
float sum_f32(const float* x, int64_t n) {
  return V::sum(fold_lanes(x, n, V::splat(0.0f), [](V acc, V v) { return V::add(acc, v); }));
}

template <class V>
float max_f32(const float* x, int64_t n) {
  return V::max_lanes(fold_lanes(x, n, V::splat(-infinity), [](V acc, V v) { return V::max(acc, v); }));
}

template <class V>
void rms_norm_f32(float* y, const float* x, const float* w, int64_t n, float eps) {
  const float squares =
      V::sum(fold_lanes(x, n, V::splat(0.0f), [](V acc, V v) { return V::fma(v, v, acc); }));
  const V inverse = V::splat(1.0f / __builtin_sqrtf(squares / float(n) + eps));
  map_lanes<V>(y, x, w, n, [=](V value, V weight) { return V::mul(V::mul(value, inverse), weight); });
}

template <class V>
void add_f32(float* y, const float* a, const float* b, int64_t n) {
  map_lanes<V>(y, a, b, n, [](V p, V q) { return V::add(p, q); });
}

template <class V>
void mul_f32(float* y, const float* a, const float* b, int64_t n) {
  map_lanes<V>(y, a, b, n, [](V p, V q) { return V::mul(p, q); });
}

template <class V>
void scale_f32(float* y, const float* x, float factor, int64_t n) {
  map_lanes<V>(y, x, n, [f = V::splat(factor)](V v) { return V::mul(v, f); });
}

template <class V>
[[gnu::always_inline]] inline V silu16(V x) {
  return V::div(x, V::add(V::splat(1.0f), exp16(V::negate(x))));
}

template <class V>
void silu_f32(float* y, const float* x, int64_t n) {
  map_lanes<V>(y, x, n, [](V v) { return silu16(v); });
}

template <class V>
void swiglu_f32(float* y, const float* gate, const float* up, int64_t n) {
  map_lanes<V>(y, gate, up, n, [](V g, V u) { return V::mul(silu16(g), u); });
}

template <class V>
void softmax_f32(float* y, const float* x, int64_t n) {
  const V highest = V::splat(max_f32<V>(x, n));
  map_lanes<V>(y, x, n, [=](V v) { return exp16(V::sub(v, highest)); });
  scale_f32<V>(y, y, 1.0f / sum_f32<V>(y, n), n);
}

/// (a, b) -> (a cos - b sin, a sin + b cos), one product of each pair rounded before the fma.
template <class V>
[[gnu::always_inline]] inline void rotate(V& a, V& b, V cos, V sin) {
  const V turned = V::fma(a, cos, V::negate(V::mul(b, sin)));
  b = V::fma(a, sin, V::mul(b, cos));
  a = turned;
}

template <class V>
void rope_interleaved(float* x, const float* cos, const float* sin, int64_t half) {
  int64_t i = 0;
  V a, b;
  for (; i + lanes <= half; i += lanes) {
    V::load_pairs(x + 2 * i, a, b);
    rotate(a, b, V::load(cos + i), V::load(sin + i));
    V::store_pairs(x + 2 * i, a, b);
  }
  const int rest = int(half - i);
  if (rest == 0) return;
  float pairs[2 * lanes] = {};
  for (int j = 0; j < 2 * rest; ++j) pairs[j] = x[2 * i + j];
  V::load_pairs(pairs, a, b);
  rotate(a, b, V::load_first(cos + i, rest), V::load_first(sin + i, rest));
  V::store_pairs(pairs, a, b);
  for (int j = 0; j < 2 * rest; ++j) x[2 * i + j] = pairs[j];
}

template <class V>
void rope_halves(float* x, const float* cos, const float* sin, int64_t half) {
  float* y = x + half;
  int64_t i = 0;
  for (; i + lanes <= half; i += lanes) {
    V a = V::load(x + i), b = V::load(y + i);
    rotate(a, b, V::load(cos + i), V::load(sin + i));
    V::store(x + i, a);
    V::store(y + i, b);
  }
  const int rest = int(half - i);
  if (rest == 0) return;
  V a = V::load_first(x + i, rest), b = V::load_first(y + i, rest);
  rotate(a, b, V::load_first(cos + i, rest), V::load_first(sin + i, rest));
  V::store_first(x + i, a, rest);
  V::store_first(y + i, b, rest);
}

template <class V>
void rope_f32(float* x, const float* cos, const float* sin, int64_t n_heads, int64_t head_dim,
              bool interleaved) {
  for (int64_t h = 0; h < n_heads; ++h, x += head_dim) {
    if (interleaved) {
      rope_interleaved<V>(x, cos, sin, head_dim / 2);
    } else {
      rope_halves<V>(x, cos, sin, head_dim / 2);
    }
  }
}

/// The last n < 16 halves go through a full vector on the stack.
template <class V>
void store_f16(uint16_t* dst, const float* x, int64_t n) {
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) V::store_f16(dst + i, V::load(x + i));
  const int rest = int(n - i);
  if (rest == 0) return;
  uint16_t half[lanes];
  V::store_f16(half, V::load_first(x + i, rest));
  for (int j = 0; j < rest; ++j) dst[i + j] = half[j];
}

template <class V>
void load_f16(float* dst, const uint16_t* src, int64_t n) {
  constexpr int width = lanes / V::parts;
  int64_t i = 0;
  for (; i + width <= n; i += width) V::store_part(dst + i, V::F16::load_part(src + i));
  if (i == n) return;
  uint16_t half[width] = {};
  float wide[width];
  for (int j = 0; i + j < n; ++j) half[j] = src[i + j];
  V::store_part(wide, V::F16::load_part(half));
  for (int j = 0; i + j < n; ++j) dst[i + j] = wide[j];
}

}  // namespace minfer::cpu
