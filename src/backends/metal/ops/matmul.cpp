#include "backends/metal/kernels/matvec_args.h"
#include "backends/metal/ops/ops.h"
#include "graph/node_refusal.h"

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
  const std::string why = weight_refusal(weight);
  if (!why.empty()) refuse(node, ErrorCode::unsupported, why);
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
  const std::string why = matmul_shape_refusal(op, placed.sources[0].desc, placed.output.desc);
  if (!why.empty()) refuse(node, ErrorCode::bad_model, why);
  x.cols = op.weight.cols;
  x.span.bytes = size_t(x.elements()) * sizeof(float);
  emit_matmul(encoder, node, op, y, x);
}

}  // namespace minfer::metal
