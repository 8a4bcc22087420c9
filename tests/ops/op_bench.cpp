#include "ops/op_bench.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "backends/cpu/cpu_backend.h"
#include "base/error.h"
#include "base/fp16.h"
#include "graph/kv_format.h"
#include "quant/quant.h"

namespace minfer::test {
namespace {

void put_half(std::byte* at, float value) {
  const uint16_t half = f32_to_f16(value);
  std::memcpy(at, &half, sizeof half);
}

/// Where a block keeps its scale and minimum; -1 if it has none.
struct Halves {
  int scale, minimum;
};
Halves halves(DType type) {
  switch (type) {
    case DType::q4_1:
    case DType::q5_1:
    case DType::q4_k:
    case DType::q5_k:
      return {0, 2};
    case DType::q6_k:
      return {208, -1};
    default:
      return {0, -1};
  }
}

void fill_row(DType type, std::byte* row, int64_t cols, Source& source) {
  if (!is_quantised(type)) {
    for (int64_t i = 0; i < cols; ++i) {
      const float value = source.normal();
      const uint16_t narrow = type == DType::f16 ? f32_to_f16(value) : f32_to_bf16(value);
      if (type == DType::f32) std::memcpy(row + i * 4, &value, 4);
      if (type != DType::f32) std::memcpy(row + i * 2, &narrow, 2);
    }
    return;
  }
  const DTypeInfo& t = info(type);
  for (int64_t b = 0; b < cols / t.block_elements; ++b) {
    std::byte* block = row + b * t.block_bytes;
    for (int64_t i = 0; i < t.block_bytes; ++i) block[i] = std::byte(source.integer(0, 255));
    const Halves at = halves(type);
    put_half(block + at.scale, 0.01f + 0.02f * std::abs(source.normal()));
    if (at.minimum >= 0) put_half(block + at.minimum, 0.05f * source.normal());
  }
}

}  // namespace

Device cpu_with(int threads) {
  return {"cpu x " + std::to_string(threads), [threads] { return make_cpu_backend(threads); }};
}

std::vector<float> Source::normals(int64_t n) {
  std::vector<float> values(static_cast<size_t>(n));
  for (float& value : values) value = normal();
  return values;
}

std::vector<std::byte> random_rows(DType type, int64_t cols, int64_t rows, uint32_t seed) {
  Source source(seed);
  const size_t bytes = row_bytes(type, cols);
  std::vector<std::byte> data(bytes * size_t(rows));
  for (int64_t r = 0; r < rows; ++r) fill_row(type, data.data() + size_t(r) * bytes, cols, source);
  return data;
}

Operand OpBench::place(TensorDesc desc, const void* data, size_t bytes) {
  buffers_.push_back(backend_->allocate(desc.bytes()));
  if (data) backend_->copy_in(*buffers_.back(), 0, {static_cast<const std::byte*>(data), bytes});
  return {buffers_.back().get(), desc};
}

Operand OpBench::values(int64_t cols, int64_t rows, const std::vector<float>& data) {
  return place(desc_f32(cols, rows), data.data(), data.size() * sizeof(float));
}
Operand OpBench::indices(const std::vector<int32_t>& data) {
  return place(desc_i32(int64_t(data.size())), data.data(), data.size() * sizeof(int32_t));
}
Operand OpBench::result(int64_t cols, int64_t rows) { return place(desc_f32(cols, rows), nullptr, 0); }

void OpBench::set(const Operand& operand, const std::vector<float>& data) {
  backend_->copy_in(*operand.buffer, 0, std::as_bytes(std::span(data)));
}
void OpBench::set(const Operand& operand, const std::vector<int32_t>& data) {
  backend_->copy_in(*operand.buffer, 0, std::as_bytes(std::span(data)));
}

WeightRef OpBench::weight(const std::string& name, DType type, int64_t cols, int64_t rows, uint32_t seed) {
  const std::vector<std::byte>& data = weight_bytes_.emplace_back(random_rows(type, cols, rows, seed));
  weights_.push_back({name, type, cols, rows});
  backend_->add_weight({weights_.back(), data});
  return weights_.back();
}

WeightRef OpBench::vector(const std::string& name, const std::vector<float>& data) {
  std::vector<std::byte>& bytes = weight_bytes_.emplace_back(data.size() * sizeof(float));
  std::memcpy(bytes.data(), data.data(), bytes.size());
  weights_.push_back({name, DType::f32, int64_t(data.size()), 1});
  backend_->add_weight({weights_.back(), bytes});
  return weights_.back();
}

std::vector<float> OpBench::decoded(const WeightRef& ref) const {
  for (size_t i = 0; i < weights_.size(); ++i) {
    if (weights_[i].name != ref.name) continue;
    std::vector<float> values(size_t(ref.cols * ref.rows));
    const size_t bytes = row_bytes(ref.type, ref.cols);
    for (int64_t r = 0; r < ref.rows; ++r) {
      decode_row(ref.type, weight_bytes_[i].data() + size_t(r) * bytes, values.data() + r * ref.cols,
                 ref.cols);
    }
    return values;
  }
  return {};
}

void OpBench::regions(KvFormat format, int64_t kv_dim, int64_t n_ctx) {
  const size_t bytes = kv_row_bytes(format, kv_dim) * size_t(n_ctx);
  buffers_.push_back(backend_->allocate(bytes));
  kv_.k = buffers_.back().get();
  buffers_.push_back(backend_->allocate(bytes));
  kv_.v = buffers_.back().get();
  n_ctx_ = n_ctx;
}

Operand OpBench::region(int64_t kv_dim) const { return {kv_.k, desc_f32(kv_dim, n_ctx_)}; }

std::vector<std::byte> OpBench::region_bytes(bool keys) {
  Buffer& region = keys ? *kv_.k : *kv_.v;
  std::vector<std::byte> bytes(region.bytes());
  backend_->copy_out(region, 0, bytes);
  return bytes;
}

void OpBench::add(Op op, std::vector<Operand> sources, const Operand& output, const std::string& name) {
  auto node = std::make_unique<Node>();
  node->name = name;
  node->op = std::move(op);
  node->desc = output.desc;
  placed_.push_back({node.get(), std::move(sources), output, kv_, n_ctx_});
  nodes_.push_back(std::move(node));
}

void OpBench::encode() {
  const std::vector<PlacedNode> split = std::exchange(placed_, {});
  program_ = backend_->encode(split);
}

void OpBench::run() {
  if (!placed_.empty()) encode();
  backend_->run(*program_);
  backend_->wait();
}

std::vector<float> OpBench::read(const Operand& operand) {
  std::vector<float> values(size_t(operand.desc.elements()));
  backend_->copy_out(*operand.buffer, 0, std::as_writable_bytes(std::span(values)));
  return values;
}

Refused refused(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    return {true, int(error.code), error.what()};
  }
  return {};
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

}  // namespace minfer::test
