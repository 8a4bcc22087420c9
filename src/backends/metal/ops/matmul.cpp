#include <fmt/format.h>

#include "backends/metal/kernels/matvec_args.h"
#include "backends/metal/ops/ops.h"

namespace minfer::metal {
namespace {

/// From so many rows on even two tokens fill the device with tiles of the GEMM; from so many tokens on they
/// fill enough of each tile.
constexpr int64_t gemm_rows = 2048, gemm_tokens = 9;

}  // namespace

MatmulTier matmul_tier(DType, int64_t tokens, int64_t rows, const Settings& settings) {
  if (tokens < 2) return MatmulTier::single;
  if (settings.gemm && (rows >= gemm_rows || tokens >= gemm_tokens)) return MatmulTier::gemm;
  return tokens <= matvec_most_tokens ? MatmulTier::small_batch : MatmulTier::multi;
}

void refuse_weight_without_kernel(const Node& node, const WeightRef& weight) {
  if (weight.type == DType::i32) {
    refuse(node, ErrorCode::unsupported,
           fmt::format("weight {} is {}: no kernel multiplies it", weight.name, info(weight.type).name));
  }
  const int64_t block = info(weight.type).block_elements;
  if (weight.cols < 1 || weight.rows < 1 || weight.cols % block != 0) {
    refuse(node, ErrorCode::unsupported,
           fmt::format("weight {} is {} [{}, {}], expected rows of whole blocks of {}", weight.name,
                       info(weight.type).name, weight.cols, weight.rows, block));
  }
}

void emit_matmul(Encoder& encoder, const Node& node, const MatMul& op, const Values& y, const Values& x) {
  const WeightRef& weight = op.weight;
  refuse_weight_without_kernel(node, weight);
  const Span bias = op.bias ? encoder.vector(node, *op.bias, weight.rows) : Span{};
  if (matmul_tier(weight.type, x.tokens, weight.rows, encoder.settings) == MatmulTier::gemm) {
    emit_gemm(encoder, node, weight, y, x);
    if (op.bias) emit_add_row(encoder, node, y, bias);
  } else {
    emit_matvec(encoder, node, weight, y, x, op.bias ? &bias : nullptr);
  }
}

void encode_matmul(Encoder& encoder, const PlacedNode& placed) {
  const Node& node = *placed.node;
  const MatMul& op = std::get<MatMul>(node.op);
  Values x = source(placed, 0);
  const Values y = output(placed);
  // A fused op's output is wider than what the next matmul reads of it; it has one row.
  const bool fits = x.cols == op.weight.cols || (x.tokens == 1 && x.cols > op.weight.cols);
  if (!fits || y.cols != op.weight.rows || y.tokens != x.tokens) {
    refuse(node, ErrorCode::bad_model,
           fmt::format("the source is {}, the output {}, the weight {} [{}, {}]",
                       to_string(placed.sources[0].desc), to_string(placed.output.desc), op.weight.name,
                       op.weight.cols, op.weight.rows));
  }
  x.cols = op.weight.cols;
  x.span.bytes = size_t(x.elements()) * sizeof(float);
  emit_matmul(encoder, node, op, y, x);
}

}  // namespace minfer::metal
