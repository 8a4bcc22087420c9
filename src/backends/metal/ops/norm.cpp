#include <fmt/format.h>

#include <algorithm>

#include "backends/metal/kernels/norm_args.h"
#include "backends/metal/ops/ops.h"

namespace minfer::metal {
namespace {

constexpr int64_t part = 128;            // values that a simdgroup takes at a time: a float4 a lane
constexpr int64_t most_parts = 8;        // simdgroups of a row's threadgroup
constexpr int64_t short_row = 2 * part;  // heads: one simdgroup is enough, and needs no barrier
constexpr int64_t short_rows_a_group = 4;

}  // namespace

KernelNames norm_kernels() { return {"rms_norm_f32", "rms_norm_simd_f32"}; }

void emit_norm(Encoder& encoder, const Node& node, const Values& y, const Values& x, int64_t width,
               const Span& gain, float eps) {
  const int64_t rows = x.elements() / width;
  const bool by_simdgroup = width <= short_row || !encoder.settings.rms_256;
  const NormArgs args{int32_t(rows), int32_t(width), eps};
  DispatchBuilder dispatch = encoder.dispatch(node, by_simdgroup ? "rms_norm_simd_f32" : "rms_norm_f32");
  dispatch.args(args).read(1, x.span).read(2, gain).write(3, y.span);
  if (by_simdgroup) {
    const int64_t a_group = std::min(rows, short_rows_a_group);
    dispatch.grid({size_t((rows + a_group - 1) / a_group)}, {size_t(a_group * 32)});
    return;
  }
  const int64_t parts = std::min((width + part - 1) / part, most_parts);
  dispatch.threadgroup_memory(32 * sizeof(float)).grid({size_t(rows)}, {size_t(parts * 32)});
}

void encode_norm(Encoder& encoder, const PlacedNode& placed) {
  const Node& node = *placed.node;
  const Values x = source(placed, 0), y = output(placed);
  const auto* per_head = std::get_if<QkNorm>(&node.op);
  const int64_t width = per_head ? per_head->head_dim : x.cols;
  if (y.elements() != x.elements() || (per_head && x.cols != per_head->head_dim * per_head->n_heads)) {
    refuse(node, ErrorCode::bad_model,
           fmt::format("the source is {}, the output {}, the norm's width {}",
                       to_string(placed.sources[0].desc), to_string(placed.output.desc), width));
  }
  const WeightRef& ref = per_head ? per_head->weight : std::get<RmsNorm>(node.op).weight;
  const float eps = per_head ? per_head->eps : std::get<RmsNorm>(node.op).eps;
  emit_norm(encoder, node, y, x, width, encoder.vector(node, ref, width), eps);
}

}  // namespace minfer::metal
