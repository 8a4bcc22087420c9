#pragma once
// The arithmetic of a root-mean-square norm, so that every kernel that normalises a row gets the same bits.
//
// A row's sum of squares has one order of additions, that of 256 threads: the thread of lane l in part p adds
// the squares of values 4 (32 p + l) to + 3, of those 1024 further on and so on, and at last of one of the
// row's last width % 4 values. The lanes of a part are added by simd_sum, and so are the parts. One simdgroup
// alone computes the parts one after the other. Parts that begin past the row are 0, so they may be left out.

constant constexpr int norm_parts = 8;  // of 32 lanes
constant constexpr int norm_threads = norm_parts * 32;

/// Parts of a row that are not 0.
inline int norm_parts_of(int width) { return min(norm_parts, (width + 127) / 128); }

/// What one lane of one part adds. Rows need the alignment of a float only: their width is any number.
inline float norm_lane_sum(device const float* x, int width, int part, int lane) {
  device const packed_float4* x4 = (device const packed_float4*)x;
  const int thread_index = part * 32 + lane, vectors = width / 4;
  float4 squares = float4(0.0f);
  for (int i = thread_index; i < vectors; i += norm_threads) {
    const float4 v = float4(x4[i]);
    squares = fma(v, v, squares);
  }
  float sum = (squares.x + squares.y) + (squares.z + squares.w);
  const int tail = vectors * 4 + thread_index;
  if (tail < width) sum = fma(x[tail], x[tail], sum);
  return sum;
}

/// 1 / sqrt(mean + eps), from the sum over all parts.
inline float norm_scale(float sum, int width, float eps) {
  return precise::rsqrt(precise::divide(sum, float(width)) + eps);
}

/// The scale of a row by one simdgroup; all 32 lanes must come here, and all get it.
inline float norm_scale_simd(device const float* x, int width, float eps, int lane) {
  float parts = 0.0f;
  const int count = norm_parts_of(width);
  for (int part = 0; part < count; part++) {
    const float sum = simd_sum(norm_lane_sum(x, width, part, lane));
    if (lane == part) parts = sum;
  }
  return norm_scale(simd_sum(parts), width, eps);
}

/// One normalised value.
inline float norm_value(float x, float scale, float gain) { return x * scale * gain; }

/// y = x * scale * gain, by `threads` threads of which this is number `first`. y may be x if nobody but the
/// thread itself reads its values: that holds for the values it summed.
inline void norm_apply(device float* y, device const float* x, device const float* gain, int width,
                       float scale, int first, int threads) {
  device const packed_float4* x4 = (device const packed_float4*)x;
  device const packed_float4* gain4 = (device const packed_float4*)gain;
  device packed_float4* y4 = (device packed_float4*)y;
  const int vectors = width / 4;
  for (int i = first; i < vectors; i += threads) {
    const float4 v = float4(x4[i]), g = float4(gain4[i]);
    y4[i] = packed_float4(v * scale * g);
  }
  const int tail = vectors * 4 + first;
  if (tail < width) y[tail] = norm_value(x[tail], scale, gain[tail]);
}
