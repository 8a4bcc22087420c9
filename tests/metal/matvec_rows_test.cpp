#include <doctest/doctest.h>
#include <fmt/format.h>

#include <chrono>
#include <cstring>

#include "backends/metal/ops/ops.h"
#include "backends/metal/replay.h"
#include "metal/matvec_bench.h"

using namespace minfer;
using namespace minfer::metal;
using namespace minfer::test;

namespace {

/// Emits by hand, without nodes.
class EmitBench {
 public:
  WeightRef weight(const std::string& name, DType type, int64_t cols, int64_t rows) {
    data_.push_back(random_rows(type, cols, rows, uint32_t(rows)));
    const WeightRef ref{name, type, cols, rows};
    weights_.add({ref, data_.back()});
    return ref;
  }
  Values values(const std::vector<float>& x) {
    Values v = result(int64_t(x.size()));
    std::memcpy(v.span.host(), x.data(), v.span.bytes);
    return v;
  }
  Values result(int64_t cols) {
    const size_t bytes = size_t(cols) * sizeof(float);
    buffers_.push_back(device_->new_buffer(bytes, "value"));
    return {{buffers_.back().get(), 0, bytes}, cols, 1};
  }
  std::vector<float> read(const Values& v) const {
    std::vector<float> values(size_t(v.cols));
    std::memcpy(values.data(), v.span.host(), v.span.bytes);
    return values;
  }
  void run() {
    encoder.finish();
    replay(*device_, program, settings_, nullptr).wait(std::chrono::minutes(1));
  }

 private:
  const AutoreleasePool pool_;
  const std::shared_ptr<metal::Device> device_ = metal::Device::open();
  const Settings settings_ = Settings::from_environment();
  WeightRegistry weights_{*device_, false};
  ScratchPool scratch_;
  std::vector<std::vector<std::byte>> data_;
  std::vector<Ref<MTL::Buffer>> buffers_;

 public:
  MetalProgram program;
  Encoder encoder{*device_, settings_, weights_, scratch_, program};
};

Node node() {
  Node node;
  node.name = "blk.0.attn_qkv";
  node.op = MatMul{};
  return node;
}

}  // namespace

TEST_CASE("the rows of several weights in one dispatch have the bits of a matmul each") {
  for (const DType type : all_types) {
    for (const std::vector<int64_t>& rows :
         {std::vector<int64_t>{5, 3, 9}, {66, 2}, {8, 16, 8}, {1, 1, 1}, {7}}) {
      CAPTURE(info(type).name);
      CAPTURE(rows[0]);
      const int64_t cols = 512;
      EmitBench bench;
      const Values x = bench.values(Source(3).normals(cols));
      std::vector<WeightRef> weights;
      std::vector<Values> apart;
      int64_t sum = 0;
      for (const int64_t count : rows) {
        weights.push_back(bench.weight(fmt::format("w{}", weights.size()), type, cols, count));
        apart.push_back(bench.result(count));
        emit_matmul(bench.encoder, node(), MatMul{weights.back(), {}}, apart.back(), x);
        sum += count;
      }
      const Values together = bench.result(sum);
      emit_matvec_rows(bench.encoder, node(), weights, together.span, x);
      REQUIRE(bench.program.dispatches.size() == rows.size() + 1);
      bench.run();

      std::vector<float> expected;
      for (const Values& one : apart) {
        const std::vector<float> y = bench.read(one);
        expected.insert(expected.end(), y.begin(), y.end());
      }
      CHECK(same_bits(bench.read(together), expected));
    }
  }
}

TEST_CASE("weights of different type or width are refused as one matrix") {
  EmitBench bench;
  const Values x = bench.values(Source(3).normals(64)), y = bench.result(8);
  const WeightRef a = bench.weight("a", DType::q4_0, 64, 4),
                  other_type = bench.weight("b", DType::q4_1, 64, 4),
                  other_width = bench.weight("c", DType::q4_0, 32, 4);
  for (const WeightRef& other : {other_type, other_width}) {
    const WeightRef both[] = {a, other};
    const Refused found = refused([&] { emit_matvec_rows(bench.encoder, node(), both, y.span, x); });
    CHECK(found.code == int(ErrorCode::unsupported));
    CHECK(found.message.find("blk.0.attn_qkv") != std::string::npos);
    CHECK(found.message.find(other.name) != std::string::npos);
  }
}

TEST_CASE("what fused arms emit is held to the same types and widths") {
  EmitBench bench;
  const Values x = bench.values(Source(3).normals(128)), y = bench.result(4);
  const WeightRef no_kernel{"a", DType::i32, 128, 4}, half_block{"a", DType::q4_k, 128, 4};
  for (const WeightRef& weight : {no_kernel, half_block}) {
    CAPTURE(info(weight.type).name);
    for (const Refused& found : {refused([&] {
                                   emit_matmul(bench.encoder, node(), MatMul{weight, {}}, y, x);
                                 }),
                                 refused([&] {
                                   emit_matvec_rows(bench.encoder, node(), {&weight, 1}, y.span, x);
                                 })}) {
      CHECK(found.code == int(ErrorCode::unsupported));
      CHECK(found.message.find("blk.0.attn_qkv") != std::string::npos);
      CHECK(found.message.find(info(weight.type).name) != std::string::npos);
      CHECK(found.message.find(weight.type == DType::i32 ? "no kernel" : "128") != std::string::npos);
    }
  }
}

TEST_CASE("a source that begins between 16 bytes is refused") {
  EmitBench bench;
  const WeightRef w = bench.weight("w", DType::q8_0, 64, 4);
  Values x = bench.values(Source(3).normals(66));
  x.span = x.span.part(8, 64 * sizeof(float));
  x.cols = 64;
  const Values y = bench.result(4);
  const Refused found = refused([&] { emit_matmul(bench.encoder, node(), MatMul{w, {}}, y, x); });
  CHECK(found.code == int(ErrorCode::unsupported));
  CHECK(found.message.find("8 bytes into its buffer") != std::string::npos);
}

TEST_CASE("the tier follows tokens, rows and the switch alone") {
  Settings with, without;
  without.gemm = false;
  struct Row {
    int64_t tokens, rows;
    MatmulTier with_gemm, without_gemm;
  };
  using enum MatmulTier;
  for (const Row& row :
       {Row{1, 1, single, single}, Row{1, 2048, single, single}, Row{1, 151936, single, single},
        Row{2, 2047, small_batch, small_batch}, Row{2, 2048, gemm, small_batch},
        Row{8, 2047, small_batch, small_batch}, Row{8, 2048, gemm, small_batch}, Row{9, 1, gemm, multi},
        Row{9, 4096, gemm, multi}, Row{512, 64, gemm, multi}}) {
    CAPTURE(row.tokens);
    CAPTURE(row.rows);
    for (const DType type : all_types) {
      CHECK(matmul_tier(type, row.tokens, row.rows, with) == row.with_gemm);
      CHECK(matmul_tier(type, row.tokens, row.rows, without) == row.without_gemm);
    }
  }
}

TEST_CASE("each tier runs its kernel") {
  const WithoutGemm without_gemm;
  EmitBench bench;
  const WeightRef w = bench.weight("w", DType::q4_k, 256, 6);
  const Node named = node();
  for (const int64_t tokens : {1, 2, 8, 9, 12, 17}) {
    Values x = bench.result(256 * tokens), y = bench.result(6 * tokens);
    x.cols = 256, y.cols = 6, x.tokens = y.tokens = tokens;
    emit_matmul(bench.encoder, named, MatMul{w, {}}, y, x);
  }
  std::vector<std::string> kernels;
  for (const Dispatch& dispatch : bench.program.dispatches) kernels.push_back(dispatch.pipeline->name);
  REQUIRE(kernels.size() == 6);
  CHECK(kernels[0].starts_with("matvec_q4_k_f32"));
  for (size_t i = 1; i < kernels.size(); ++i) CHECK(kernels[i].starts_with("matvec_batch_q4_k_f32"));
  CHECK(kernels[3] != kernels[4]);  // passes of 5 tokens, and of 6
  CHECK(kernels[4] == kernels[5]);  // 12 is two passes of 6, 17 is three
}
