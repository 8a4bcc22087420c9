#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "backends/metal/kernels/qkv_epilogue_args.h"
#include "backends/metal/ops/ops.h"

namespace minfer::metal {
namespace {

/// One fused node with its memory.
struct Fused {
  const Node& node;
  const FusedQkv& op;
  const FusedQkvNorm* norms;  ///< null: the arm with biases
  Values x, y;
  KvPlace kv;
  Span positions, cells;
};

void refuse_unless_one_token(const PlacedNode& placed) {
  const int64_t tokens = placed.sources[0].desc.rows();
  if (tokens == 1) return;
  refuse(*placed.node, ErrorCode::unsupported,
         fmt::format("it has {} tokens, expected 1: this fusion is for decoding", tokens));
}

void refuse_other_shapes(const PlacedNode& placed, const FusedQkv& op, const Values& x, const Values& y) {
  const bool fits = op.q.weight.rows == op.q_dim() && op.k.weight.rows == op.kv_dim() &&
                    op.v.weight.rows == op.kv_dim() && op.q.weight.cols == op.k.weight.cols &&
                    op.q.weight.cols == op.v.weight.cols && x.cols >= op.q.weight.cols &&
                    y.cols == op.q_dim() + 2 * op.kv_dim();
  if (fits) return;
  refuse(
      *placed.node, ErrorCode::bad_model,
      fmt::format("the source is {}, the output {}, expected {} + 2 x {} values",
                  to_string(placed.sources[0].desc), to_string(placed.output.desc), op.q_dim(), op.kv_dim()));
}

/// Heads that one threadgroup takes: of packed rows as many as fill whole blocks of 32 values.
int64_t heads_a_threadgroup(const FusedQkv& op) {
  if (op.format != KvFormat::q8_0) return 1;
  return 32 / std::gcd(op.head_dim, int64_t(32));  // at most 8, since widths are multiples of 4
}

size_t threadgroups(const FusedQkv& op, int64_t at_once) {
  const auto groups = [&](int64_t heads) { return size_t((heads + at_once - 1) / at_once); };
  return groups(op.n_heads) + 2 * groups(op.n_kv_heads);
}

/// y = q, k and v without biases: one dispatch if they have one type.
void emit_projections(Encoder& encoder, const Fused& fused) {
  const FusedQkv& op = fused.op;
  const WeightRef weights[] = {op.q.weight, op.k.weight, op.v.weight};
  const bool one_type = weights[0].type == weights[1].type && weights[0].type == weights[2].type;
  if (one_type) return emit_matvec_rows(encoder, fused.node, weights, fused.y.span, fused.x);
  size_t at = 0;
  for (const WeightRef& weight : weights) {
    const size_t bytes = size_t(weight.rows) * sizeof(float);
    emit_matvec(encoder, fused.node, weight, {fused.y.span.part(at, bytes), weight.rows, 1}, fused.x);
    at += bytes;
  }
}

void emit_epilogue(Encoder& encoder, const Fused& fused) {
  const FusedQkv& op = fused.op;
  const int64_t at_once = heads_a_threadgroup(op), values = at_once * op.head_dim;
  const Span frequencies = rope_frequencies(encoder, fused.node, op.rope, op.head_dim);
  QkvEpilogueArgs args{.head_dim = int32_t(op.head_dim),
                       .n_heads = int32_t(op.n_heads),
                       .n_kv_heads = int32_t(op.n_kv_heads),
                       .heads_a_threadgroup = int32_t(at_once),
                       .interleaved = op.rope.style == RopeStyle::interleaved,
                       .biases = 0,
                       .norms = fused.norms != nullptr,
                       .row_bytes = uint32_t(fused.kv.row_bytes),
                       .eps = fused.norms ? fused.norms->eps : 0.0f};
  // A bias or gain of each; what is not there is not read, but a kernel's arguments must be bound.
  Span vectors[3] = {frequencies, frequencies, frequencies};
  if (fused.norms) {
    vectors[0] = encoder.vector(fused.node, fused.norms->q_norm, op.head_dim);
    vectors[1] = encoder.vector(fused.node, fused.norms->k_norm, op.head_dim);
  } else {
    const MatMul* parts[3] = {&op.q, &op.k, &op.v};
    for (int i = 0; i < 3; ++i) {
      if (!parts[i]->bias) continue;
      vectors[i] = encoder.vector(fused.node, *parts[i]->bias, parts[i]->weight.rows);
      args.biases |= 1 << i;
    }
  }
  const int64_t threads = std::min<int64_t>((values + 31) / 32 * 32, 256);
  encoder.dispatch(fused.node, fmt::format("qkv_epilogue_{}", name(op.format)))
      .args(args)
      .write(1, fused.y.span)
      .read(2, fused.positions)
      .read(3, frequencies)
      .read(4, fused.cells)
      .write(5, fused.kv.k)
      .write(6, fused.kv.v)
      .read(7, vectors[0])
      .read(8, vectors[1])
      .read(9, vectors[2])
      .threadgroup_memory(size_t(values) * sizeof(float))
      .grid({threadgroups(op, at_once)}, {size_t(threads)});
}

}  // namespace

KernelNames fused_qkv_kernels() { return {"qkv_epilogue_f32", "qkv_epilogue_f16", "qkv_epilogue_q8_0"}; }

void encode_fused_qkv(Encoder& encoder, const PlacedNode& placed) {
  refuse_unless_one_token(placed);
  const Node& node = *placed.node;
  const auto* norms = std::get_if<FusedQkvNorm>(&node.op);
  const FusedQkv& op = norms ? norms->qkv : std::get<FusedQkv>(node.op);
  const Values x = source(placed, 0), y = output(placed);
  refuse_other_shapes(placed, op, x, y);
  const size_t x_bytes = size_t(op.q.weight.cols) * sizeof(float);
  const Fused fused{.node = node,
                    .op = op,
                    .norms = norms,
                    .x = {x.span.part(0, x_bytes), op.q.weight.cols, 1},
                    .y = y,
                    .kv = kv_place(placed, op.kv_dim(), op.format),
                    .positions = span_of(node, placed.sources[1]),
                    .cells = span_of(node, placed.sources[2])};
  const int32_t* position = encoder.indices(node, placed.sources[1], 1);
  const int32_t* cell = encoder.indices(node, placed.sources[2], 1);
  check_indices(encoder, node, "position", position, 1, std::numeric_limits<int32_t>::max());
  check_indices(encoder, node, "KV cell", cell, 1, fused.kv.n_ctx);
  emit_projections(encoder, fused);
  emit_epilogue(encoder, fused);
}

}  // namespace minfer::metal
