#include <fmt/format.h>

#include "backends/cpu/ops/ops.h"

namespace minfer::cpu {

void emit_norm(Encoder& encoder, const Values& y, const Values& x, int64_t width, const float* weight,
               float eps) {
  const int64_t rows = x.elements() / width;
  const bool solo = x.elements() <= solo_elements || rows == 1;
  const auto norm = [=, y = y.data, x = x.data, kernel = encoder.kernels.rms_norm_f32](Range mine) {
    for (int64_t r = mine.begin; r < mine.end; ++r) kernel(y + r * width, x + r * width, weight, width, eps);
  };
  const auto work = [=](const Lane& lane) { norm(share(rows, 1, lane.worker)); };
  const auto of_tokens = [=, each = x.cols / width](Range tokens, std::byte*) {
    norm({tokens.begin * each, tokens.end * each});
  };
  encoder.step({"rms_norm", work, {x.access()}, {y.access()}, {x.tokens, of_tokens}, solo});
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
  emit_norm(encoder, y, x, width, encoder.vector(node, ref, width), eps);
}

}  // namespace minfer::cpu
