#include "backends/cpu/isa/scalar_quant.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "backends/cpu/isa/quant_blocks.h"
#include "backends/cpu/isa/quant_scratch.h"
#include "backends/cpu/isa/quant_tokens.h"
#include "base/fp16.h"

namespace minfer::cpu {

size_t matmul_scratch_bytes(int64_t cols) { return panel_bytes(cols); }

namespace scalar {
namespace {

int byte_at(const std::byte* p) { return std::to_integer<int>(*p); }
int signed_byte_at(const std::byte* p) { return int8_t(byte_at(p)); }

float half_at(const std::byte* p) {
  uint16_t h;
  std::memcpy(&h, p, sizeof h);
  return f16_to_f32(h);
}

uint32_t word_at(const std::byte* p) {
  uint32_t w;
  std::memcpy(&w, p, sizeof w);
  return w;
}

/// Bits of the largest magnitude among 32 values. Compared as integers: magnitudes are in order, and
/// infinities and NaNs stand above every finite value, so that none is lost.
uint32_t largest_magnitude(const float* x) {
  uint32_t largest = 0;
  for (int i = 0; i < 32; ++i) {
    const uint32_t magnitude = std::bit_cast<uint32_t>(x[i]) & 0x7fffffffu;
    if (magnitude > largest) largest = magnitude;
  }
  return largest;
}

constexpr uint32_t infinity_bits = 0x7f800000u;

/// x * inverse, rounded half to even and clamped; 0 for NaN (zero times the infinite inverse of a tiny amax).
int8_t quantise(float x, float inverse) {
  const float scaled = x * inverse;
  if (std::isnan(scaled)) return 0;
  if (scaled > 127.0f) return 127;
  if (scaled < -127.0f) return -127;
  return int8_t(std::nearbyint(scaled));
}

/// One block's quants; returns amax / 127, NaN (and quants of 0) if a value is not finite.
float quantise_block(int8_t* q, const float* x) {
  const uint32_t bits = largest_magnitude(x);
  if (bits >= infinity_bits) {
    std::memset(q, 0, 32);
    return std::numeric_limits<float>::quiet_NaN();
  }
  const float amax = std::bit_cast<float>(bits);
  const float inverse = amax == 0.0f ? 0.0f : 127.0f / amax;
  for (int i = 0; i < 32; ++i) q[i] = quantise(x[i], inverse);
  return amax / 127.0f;
}

/// One block of 32 of a row, unpacked: value i is scale[i / 16] * q[i] + min.
struct Block {
  int q[32];
  float scale[2];
  float min = 0;
};

/// One scale for all 32.
Block block_of(float scale, float min = 0) { return {.q = {}, .scale = {scale, scale}, .min = min}; }

void read_nibbles(int (&q)[32], const std::byte* nibbles, int offset) {
  for (int i = 0; i < 16; ++i) {
    q[i] = (byte_at(nibbles + i) & 15) - offset;
    q[i + 16] = (byte_at(nibbles + i) >> 4) - offset;
  }
}

Block read_q4_0(const std::byte* row, int64_t b) {
  using L = layout::Q4_0;
  const std::byte* p = row + b * L::bytes;
  Block block = block_of(half_at(p + L::d));
  read_nibbles(block.q, p + L::nibbles, 8);
  return block;
}

Block read_q4_1(const std::byte* row, int64_t b) {
  using L = layout::Q4_1;
  const std::byte* p = row + b * L::bytes;
  Block block = block_of(half_at(p + L::d), half_at(p + L::m));
  read_nibbles(block.q, p + L::nibbles, 0);
  return block;
}

Block read_q5_0(const std::byte* row, int64_t b) {
  using L = layout::Q5_0;
  const std::byte* p = row + b * L::bytes;
  Block block = block_of(half_at(p + L::d));
  read_nibbles(block.q, p + L::nibbles, 16);
  for (int i = 0; i < 32; ++i) block.q[i] += int(word_at(p + L::high) >> i & 1) << 4;
  return block;
}

Block read_q5_1(const std::byte* row, int64_t b) {
  using L = layout::Q5_1;
  const std::byte* p = row + b * L::bytes;
  Block block = block_of(half_at(p + L::d), half_at(p + L::m));
  read_nibbles(block.q, p + L::nibbles, 0);
  for (int i = 0; i < 32; ++i) block.q[i] += int(word_at(p + L::high) >> i & 1) << 4;
  return block;
}

Block read_q8_0(const std::byte* row, int64_t b) {
  using L = layout::Q8_0;
  const std::byte* p = row + b * L::bytes;
  Block block = block_of(half_at(p + L::d));
  for (int i = 0; i < 32; ++i) block.q[i] = signed_byte_at(p + L::quants + i);
  return block;
}

/// The 6-bit scale and minimum of sub-block j of a Q4_K or Q5_K block.
struct ScaleMin {
  int scale;
  int min;
};
ScaleMin scale_min(const std::byte* s, int j) {
  if (j < 4) return {byte_at(s + j) & 63, byte_at(s + j + 4) & 63};
  return {(byte_at(s + j + 4) & 15) | byte_at(s + j - 4) >> 6 << 4,
          byte_at(s + j + 4) >> 4 | byte_at(s + j) >> 6 << 4};
}

template <class L>
Block read_k(const std::byte* p, int j) {
  const ScaleMin sm = scale_min(p + L::scales, j);
  Block block = block_of(half_at(p + L::d) * float(sm.scale), -(half_at(p + L::dmin) * float(sm.min)));
  for (int i = 0; i < 32; ++i) block.q[i] = byte_at(p + L::nibbles + 32 * (j / 2) + i) >> (j % 2 * 4) & 15;
  return block;
}

Block read_q4_k(const std::byte* row, int64_t b) {
  return read_k<layout::Q4_K>(row + b / 8 * layout::Q4_K::bytes, int(b % 8));
}

Block read_q5_k(const std::byte* row, int64_t b) {
  using L = layout::Q5_K;
  const std::byte* p = row + b / 8 * L::bytes;
  const int j = int(b % 8);
  Block block = read_k<L>(p, j);
  for (int i = 0; i < 32; ++i) block.q[i] += (byte_at(p + L::high + i) >> j & 1) << 4;
  return block;
}

Block read_q6_k(const std::byte* row, int64_t b) {
  using L = layout::Q6_K;
  const std::byte* p = row + b / 8 * L::bytes;
  const int half = int(b % 8) / 4, j = int(b % 4);
  Block block = block_of(0.0f);
  for (int side : {0, 1}) {
    // A half times a byte is exact.
    block.scale[side] = half_at(p + L::d) * float(signed_byte_at(p + L::scales + 2 * (b % 8) + side));
  }
  for (int i = 0; i < 32; ++i) {
    const int low = byte_at(p + L::low + 64 * half + 32 * (j & 1) + i) >> (j / 2 * 4) & 15;
    const int high = byte_at(p + L::high + 32 * half + i) >> (2 * j) & 3;
    block.q[i] = (low | high << 4) - 32;
  }
  return block;
}

using ReadBlock = Block (*)(const std::byte* row, int64_t b);

/// What one token has in one block.
struct Activations {
  const int8_t* q;
  float d, d_sum;
};

/// Block b of token t: see TokenTile.
Activations activations(const Q8Tokens& x, int64_t b, int64_t t) {
  const int64_t in_tile = t % token_tile, first = t - in_tile;
  const int64_t tokens = std::min(token_tile, x.tokens - first);
  const std::byte* const tile = x.tile(first);
  const std::byte* const block = tile + b * tokens * (32 + 4);
  const auto* d = reinterpret_cast<const float*>(block + tokens * 32);
  const auto* d_sum = reinterpret_cast<const float*>(tile + x.blocks() * tokens * (32 + 4)) + b * tokens;
  return {reinterpret_cast<const int8_t*>(block) + in_tile * 32, d[in_tile], d_sum[in_tile]};
}

int dot(const int* q, const int8_t* a, int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += q[i] * a[i];
  return sum;
}

/// scale * dot, rounded once: see dot_origin. A plain product has the same bits but where the scale is
/// infinite: here that gives NaN.
float scaled(int dot, float scale) { return std::fma(dot_origin + float(dot), scale, -dot_origin * scale); }

/// What a format has besides quants and a scale.
enum class Extra { none, min, second_scale };

/// A block's part in a row's product but for the token's scale.
template <Extra extra>
float weigh(const Block& block, const int8_t* a) {
  if (extra != Extra::second_scale) return scaled(dot(block.q, a, 32), block.scale[0]);
  const float first = scaled(dot(block.q, a, 16), block.scale[0]);
  return std::fma(float(dot(block.q + 16, a + 16, 16)), block.scale[1], first);
}

/// Every format: per row and token, blocks in order.
template <ReadBlock read, Extra extra>
void matmul(float* y, int64_t y_stride, const std::byte* w, size_t w_row_bytes, int64_t rows,
            const Q8Tokens& x) {
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t t = 0; t < x.tokens; ++t) y[t * y_stride + r] = 0.0f;
    for (int64_t b = 0; b < x.blocks(); ++b) {
      const Block block = read(w + size_t(r) * w_row_bytes, b);
      for (int64_t t = 0; t < x.tokens; ++t) {
        const Activations a = activations(x, b, t);
        float& acc = y[t * y_stride + r];
        acc = std::fma(weigh<extra>(block, a.q), a.d, acc);
        if (extra == Extra::min) acc = std::fma(block.min, a.d_sum, acc);
      }
    }
  }
}

}  // namespace

void quantise_q8(const Q8Rows& to, const float* x, int64_t n) {
  for (int64_t b = 0; b < n / 32; ++b) {
    to.d[b] = quantise_block(to.q + 32 * b, x + 32 * b);
    for (int64_t half = 2 * b; half < 2 * b + 2; ++half) {
      to.sum[half] = 0;
      for (int i = 0; i < 16; ++i) to.sum[half] += to.q[16 * half + i];
    }
  }
}

void store_q8_0(std::byte* dst, const float* x, int64_t n) {
  using L = layout::Q8_0;
  for (int64_t b = 0; b < n / 32; ++b) {
    int8_t q[32];
    const uint16_t d = f32_to_f16(quantise_block(q, x + 32 * b));
    std::memcpy(dst + b * L::bytes + L::d, &d, sizeof d);
    std::memcpy(dst + b * L::bytes + L::quants, q, sizeof q);
  }
}

void load_q8_0(float* dst, const std::byte* src, int64_t n) {
  for (int64_t b = 0; b < n / 32; ++b) {
    const Block block = read_q8_0(src, b);
    for (int i = 0; i < 32; ++i) dst[32 * b + i] = block.scale[0] * float(block.q[i]);
  }
}

void matmul_q4_0(float* y, int64_t y_stride, const std::byte* w, size_t w_row_bytes, int64_t rows,
                 const Q8Tokens& x, std::byte*) {
  matmul<read_q4_0, Extra::none>(y, y_stride, w, w_row_bytes, rows, x);
}

void matmul_q4_1(float* y, int64_t y_stride, const std::byte* w, size_t w_row_bytes, int64_t rows,
                 const Q8Tokens& x, std::byte*) {
  matmul<read_q4_1, Extra::min>(y, y_stride, w, w_row_bytes, rows, x);
}

void matmul_q5_0(float* y, int64_t y_stride, const std::byte* w, size_t w_row_bytes, int64_t rows,
                 const Q8Tokens& x, std::byte*) {
  matmul<read_q5_0, Extra::none>(y, y_stride, w, w_row_bytes, rows, x);
}

void matmul_q5_1(float* y, int64_t y_stride, const std::byte* w, size_t w_row_bytes, int64_t rows,
                 const Q8Tokens& x, std::byte*) {
  matmul<read_q5_1, Extra::min>(y, y_stride, w, w_row_bytes, rows, x);
}

void matmul_q8_0(float* y, int64_t y_stride, const std::byte* w, size_t w_row_bytes, int64_t rows,
                 const Q8Tokens& x, std::byte*) {
  matmul<read_q8_0, Extra::none>(y, y_stride, w, w_row_bytes, rows, x);
}

void matmul_q4_k(float* y, int64_t y_stride, const std::byte* w, size_t w_row_bytes, int64_t rows,
                 const Q8Tokens& x, std::byte*) {
  matmul<read_q4_k, Extra::min>(y, y_stride, w, w_row_bytes, rows, x);
}

void matmul_q5_k(float* y, int64_t y_stride, const std::byte* w, size_t w_row_bytes, int64_t rows,
                 const Q8Tokens& x, std::byte*) {
  matmul<read_q5_k, Extra::min>(y, y_stride, w, w_row_bytes, rows, x);
}

void matmul_q6_k(float* y, int64_t y_stride, const std::byte* w, size_t w_row_bytes, int64_t rows,
                 const Q8Tokens& x, std::byte*) {
  matmul<read_q6_k, Extra::second_scale>(y, y_stride, w, w_row_bytes, rows, x);
}

}  // namespace scalar
}  // namespace minfer::cpu
