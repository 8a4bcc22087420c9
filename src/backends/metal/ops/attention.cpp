#include <fmt/format.h>

#include <algorithm>

#include "backends/metal/ops/attention_route.h"
#include "backends/metal/ops/ops.h"

namespace minfer::metal {

int64_t visible_rows(const AttentionCall& call) {
  return int64_t(*std::max_element(call.positions, call.positions + call.q.tokens)) + 1;
}

namespace {

/// The same attention over an f32 copy of its packed rows.
AttentionCall unpacked(Encoder& encoder, AttentionCall call) {
  call.kv = emit_kv_unpack(encoder, call);
  call.op.format = KvFormat::f32;
  return call;
}

void emit_attention(Encoder& encoder, const AttentionCall& call) {
  switch (attention_route(call.q.tokens, call.op.head_dim, call.op.format, encoder.settings)) {
    case AttentionRoute::decode_flash:
      return emit_decode_flash(encoder, call);
    case AttentionRoute::decode_split:
      return emit_decode_split(encoder, call);
    case AttentionRoute::prefill_flash:
      return emit_prefill_flash(encoder, call);
    case AttentionRoute::prefill_three_pass:
      return emit_prefill_three_pass(encoder, call);
    case AttentionRoute::classic:
      return emit_attention_classic(encoder, call);
    case AttentionRoute::staged_decode_flash:
      return emit_decode_flash(encoder, unpacked(encoder, call));
    case AttentionRoute::staged_prefill_flash:
      return emit_prefill_flash(encoder, unpacked(encoder, call));
  }
}

}  // namespace

void encode_attention(Encoder& encoder, const PlacedNode& placed) {
  const Node& node = *placed.node;
  const auto& op = std::get<Attention>(node.op);
  Values q = source(placed, 0);
  const Values y = output(placed);
  const int64_t width = op.n_heads * op.head_dim, kv_dim = op.n_kv_heads * op.head_dim;
  // A fused decode op leaves q at the front of a wider row.
  const bool fits = q.cols == width || (q.tokens == 1 && q.cols > width);
  const TensorDesc& region = placed.sources[1].desc;
  if (!fits || y.cols != width || y.tokens != q.tokens || region.cols() != kv_dim) {
    refuse(node, ErrorCode::bad_model,
           fmt::format("q is {}, the KV region {}, the output {}; expected {} heads over {} KV heads of {}",
                       to_string(placed.sources[0].desc), to_string(region), to_string(placed.output.desc),
                       op.n_heads, op.n_kv_heads, op.head_dim));
  }
  q = {q.span.part(0, size_t(width * q.tokens) * sizeof(float)), width, q.tokens};
  const KvPlace kv = kv_place(placed, kv_dim, op.format);
  const int32_t* positions = encoder.indices(node, placed.sources[2], q.tokens);
  check_indices(encoder, node, "position", positions, q.tokens, kv.n_ctx);
  emit_attention(encoder, {&node, op, q, y, kv, positions, span_of(node, placed.sources[2])});
}

}  // namespace minfer::metal
