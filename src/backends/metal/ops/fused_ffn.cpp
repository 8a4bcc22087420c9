#include <fmt/format.h>

#include <array>

#include "backends/metal/ops/ops.h"

namespace minfer::metal {

void encode_fused_ffn(Encoder& encoder, const PlacedNode& placed) {
  const Node& node = *placed.node;
  const int64_t tokens = placed.sources[0].desc.rows();
  if (tokens != 1) {
    refuse(node, ErrorCode::unsupported,
           fmt::format("it has {} tokens, expected 1: this fusion is for decoding", tokens));
  }
  const FusedFfn& op = std::get<FusedFfn>(node.op);
  Values x = source(placed, 0);
  const Values y = output(placed);
  const int64_t ffn_dim = op.gate.rows;
  const bool fits =
      op.up.rows == ffn_dim && op.gate.cols == op.up.cols && x.cols >= op.gate.cols && y.cols == 2 * ffn_dim;
  if (!fits) {
    refuse(
        node, ErrorCode::bad_model,
        fmt::format("the source is {}, the output {}, gate {} [{}, {}], up {} [{}, {}]",
                    to_string(placed.sources[0].desc), to_string(placed.output.desc), info(op.gate.type).name,
                    op.gate.cols, op.gate.rows, info(op.up.type).name, op.up.cols, op.up.rows));
  }
  // The source may be a wider one-row value, of which this reads the first columns.
  x.cols = op.gate.cols;
  const size_t half = size_t(ffn_dim) * sizeof(float);
  x.span = x.span.part(0, size_t(x.cols) * sizeof(float));
  const Span gate = y.span.part(0, half), up = y.span.part(half, half);
  const std::array<WeightRef, 2> weights{op.gate, op.up};
  emit_matvec_rows(encoder, node, weights, y.span, x);
  emit_swiglu(encoder, node, gate, gate, up, ffn_dim);
}

}  // namespace minfer::metal
