#pragma once
#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <vector>

#include "backends/metal/encoder.h"
#include "backends/metal/ops/ops.h"
#include "backends/metal/replay.h"
#include "ops/op_bench.h"
#include "quant/quant.h"

namespace minfer::test {

/// A random weight, as a file has it and decoded.
struct Matrix {
  WeightRef ref;
  std::vector<std::byte> bytes;
  std::vector<float> values;

  Matrix(DType type, int64_t cols, int64_t rows)
      : Matrix(type, cols, rows, random_rows(type, cols, rows, uint32_t(cols + rows))) {}
  Matrix(DType type, int64_t cols, int64_t rows, std::vector<std::byte> blocks)
      : ref{"w", type, cols, rows}, bytes(std::move(blocks)), values(size_t(cols * rows)) {
    decode_row(type, bytes.data(), values.data(), cols * rows);
  }
};

/// The GEMM alone, also where another tier would be chosen.
class Gemm {
 public:
  const Matrix w;
  bool kept_to_y = true;  ///< whether nothing was written behind y so far

  /// Weights lie in mapped memory, `offset` bytes behind the beginning of a page.
  Gemm(DType type, int64_t cols, int64_t rows, bool half_staging = false, size_t offset = 0)
      : Gemm(Matrix(type, cols, rows), half_staging, offset) {}
  Gemm(Matrix weight, bool half_staging, size_t offset = 0)
      : w(std::move(weight)), pages_(offset + w.bytes.size() + 2 * page) {
    settings_.half_staging = half_staging;
    settings_.narrow = true;
    void* begin = pages_.data();
    size_t space = pages_.size();
    auto* at = static_cast<std::byte*>(std::align(page, offset + w.bytes.size(), begin, space));
    std::memcpy(at + offset, w.bytes.data(), w.bytes.size());
    weights_.add_mapping({at, offset + w.bytes.size()}, w.bytes.size());
    weights_.add({w.ref, {at + offset, w.bytes.size()}});
  }

  /// y [tokens][rows].
  std::vector<float> operator()(const std::vector<float>& x) {
    const metal::AutoreleasePool pool;
    const int64_t tokens = int64_t(x.size()) / w.ref.cols;
    const size_t x_bytes = x.size() * sizeof(float), count = size_t(tokens * w.ref.rows);
    const auto from = device_->new_buffer(x_bytes, "x"), to = device_->new_buffer((count + guard) * 4, "y");
    auto* results = static_cast<float*>(to->contents());
    std::memcpy(from->contents(), x.data(), x_bytes);
    std::fill_n(results, count + guard, untouched);

    Node node;
    node.name = "gemm";
    node.op = MatMul{w.ref, {}};
    metal::MetalProgram program;
    metal::Encoder encoder(*device_, settings_, weights_, scratch_, program);
    emit_gemm(encoder, node, w.ref, {{to.get(), 0, count * 4}, w.ref.rows, tokens},
              {{from.get(), 0, x_bytes}, w.ref.cols, tokens});
    encoder.finish();
    replay(*device_, program, settings_, nullptr).wait(std::chrono::minutes(5));
    kept_to_y = kept_to_y && std::count(results + count, results + count + guard, untouched) == guard;
    return {results, results + count};
  }

 private:
  static constexpr size_t page = 16384;
  static constexpr ptrdiff_t guard = 64;  ///< values behind y
  static constexpr float untouched = -12345.0f;

  std::vector<std::byte> pages_;
  metal::Settings settings_;
  std::shared_ptr<metal::Device> device_ = metal::Device::open();
  metal::WeightRegistry weights_{*device_, false};
  metal::ScratchPool scratch_;
};

}  // namespace minfer::test
