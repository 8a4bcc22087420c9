#pragma once
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "backends/cpu/isa/quant_tokens.h"
#include "base/fp16.h"
#include "kernels/kernel_test.h"
#include "quant/dtype.h"

/// What the tests of integer kernels share: random weights, quantised tokens and a call with guarded output.
namespace minfer::cpu::test {

/// A block format as the file format defines it, with the places of its half-precision fields.
struct Format {
  DType type;
  const char* name;
  int elements, bytes;
  std::vector<int> halves;
};

inline const std::vector<Format>& formats() {
  static const std::vector<Format> all = {
      {DType::q4_0, "Q4_0", 32, 18, {0}},      {DType::q4_1, "Q4_1", 32, 20, {0, 2}},
      {DType::q5_0, "Q5_0", 32, 22, {0}},      {DType::q5_1, "Q5_1", 32, 24, {0, 2}},
      {DType::q8_0, "Q8_0", 32, 34, {0}},      {DType::q4_k, "Q4_K", 256, 144, {0, 2}},
      {DType::q5_k, "Q5_K", 256, 176, {0, 2}}, {DType::q6_k, "Q6_K", 256, 210, {208}},
  };
  return all;
}

/// Rows of blocks in memory that ends with the last block, at an odd address, with `padding` bytes between
/// rows.
struct Weights {
  std::vector<std::byte> storage;
  size_t offset, row_bytes;
  int64_t rows;

  Weights(const Format& format, int64_t n_rows, int64_t cols, size_t padding = 0)
      : offset(1), row_bytes(size_t(cols / format.elements * format.bytes) + padding), rows(n_rows) {
    storage.resize(offset + row_bytes * size_t(rows) - padding);
  }
  std::byte* row(int64_t r) { return storage.data() + offset + row_bytes * size_t(r); }
};

/// Random bytes are valid quants and integer scales; halves come from `scale`.
template <class Scale>
Weights random_weights(const Format& format, int64_t rows, int64_t cols, size_t padding, uint32_t seed,
                       Scale scale) {
  Weights w(format, rows, cols, padding);
  std::mt19937 rng(seed);
  for (std::byte& b : w.storage) b = std::byte(rng());
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t b = 0; b < cols / format.elements; ++b) {
      for (const int at : format.halves) {
        const uint16_t half = scale(rng);
        std::memcpy(w.row(r) + b * format.bytes + at, &half, sizeof half);
      }
    }
  }
  return w;
}

/// Scales of ordinary weights, both signs.
inline uint16_t ordinary_scale(std::mt19937& rng) {
  return f32_to_f16(0.01f * std::normal_distribution<float>()(rng));
}

/// Zeros, subnormals and the largest halves among ordinary scales.
inline uint16_t extreme_scale(std::mt19937& rng) {
  constexpr uint16_t extremes[] = {0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x83ff, 0x0400, 0x7bff, 0xfbff};
  return rng() % 2 ? extremes[rng() % std::size(extremes)] : ordinary_scale(rng);
}

/// Quantised tokens, to be set at will and packed as kernels read them.
struct QuantisedTokens {
  std::vector<int8_t> q;
  std::vector<float> d;
  std::vector<int32_t> sum;
  int64_t cols;

  QuantisedTokens(int64_t tokens, int64_t n_cols)
      : q(size_t(tokens * n_cols)), d(size_t(tokens * n_cols / 32)), sum(2 * d.size()), cols(n_cols) {}
  QuantisedTokens(const std::vector<float>& x, int64_t n_cols)
      : QuantisedTokens(int64_t(x.size()) / n_cols, n_cols) {
    scalar_table().quantise_q8({q.data(), d.data(), sum.data()}, x.data(), int64_t(x.size()));
  }
  void set_sums() {
    for (size_t half = 0; half < sum.size(); ++half) {
      sum[half] = 0;
      for (size_t i = 0; i < 16; ++i) sum[half] += q[16 * half + i];
    }
  }
  /// The first `tokens` of them.
  std::vector<std::byte> packed(int64_t tokens) {
    std::vector<std::byte> bytes(q8_token_bytes(cols, tokens));
    const int64_t blocks = cols / 32;
    for (int64_t t = 0; t < tokens; t += token_tile) {
      const Q8Rows rows = Q8Rows{q.data(), d.data(), sum.data()}.from(t * blocks);
      pack_tokens(Q8Tokens{bytes.data(), cols, tokens}, t, rows, 0, blocks);
    }
    return bytes;
  }
};

/// One product with its output between guards; rows lie y_stride apart and the gaps are guards too.
struct Product {
  int64_t rows, tokens, stride;
  Guarded<float> y;

  Product(const KernelTable& table, const Format& format, Weights& w, QuantisedTokens& x, int64_t n_rows,
          int64_t n_tokens)
      : rows(n_rows), tokens(n_tokens), stride(n_rows + 3), y(stride * n_tokens) {
    std::fill(y.data(), y.data() + y.size(), gap);
    std::vector<std::byte> scratch(matmul_scratch_bytes(x.cols) + 128);
    std::byte* aligned = scratch.data() + (64 - reinterpret_cast<uintptr_t>(scratch.data()) % 64) % 64;
    std::byte* end = aligned + matmul_scratch_bytes(x.cols);
    *end = guard_byte;
    std::vector<std::byte> packed = x.packed(tokens);
    matmul_q(table, format.type)(y.data(), stride, w.row(0), w.row_bytes, rows,
                                 Q8Tokens{packed.data(), x.cols, tokens}, aligned);
    scratch_intact = *end == guard_byte;
  }
  float at(int64_t t, int64_t r) { return y[t * stride + r]; }
  bool guards_intact() {
    bool intact = y.guards_intact() && scratch_intact;
    for (int64_t t = 0; t < tokens; ++t) {
      for (int64_t r = rows; r < stride; ++r) intact = intact && at(t, r) == gap;
    }
    return intact;
  }

 private:
  static constexpr float gap = -54321.0f;
  static constexpr std::byte guard_byte{0xa5};
  bool scratch_intact = false;
};

/// The first (token, row) where two products of the same weights and tokens differ, "" if none.
inline std::string difference(Product& got, Product& want) {
  for (int64_t t = 0; t < got.tokens; ++t) {
    for (int64_t r = 0; r < got.rows; ++r) {
      if (!same_bits(got.at(t, r), want.at(t, r))) {
        return "token " + std::to_string(t) + " row " + std::to_string(r) + ": " +
               std::to_string(got.at(t, r)) + ", the reference has " + std::to_string(want.at(t, r));
      }
    }
  }
  return "";
}

}  // namespace minfer::cpu::test
