#include <fmt/format.h>

#include <cstring>

#include "backends/cpu/ops/ops.h"

namespace minfer::cpu {
namespace {

void refuse_unless_one_token(const PlacedNode& placed) {
  const int64_t tokens = placed.sources[0].desc.rows();
  if (tokens != 1) {
    refuse(*placed.node, ErrorCode::unsupported,
           fmt::format("it has {} tokens, expected 1: this fusion is for decoding", tokens));
  }
}

Values part(const Values& whole, int64_t offset, int64_t cols) { return {whole.data + offset, cols, 1}; }

/// y = x + bias (or a copy), row after row.
void emit_biased(Encoder& encoder, const Values& y, const Values& x, const float* bias) {
  const bool solo = x.elements() <= solo_elements;
  const auto work = [=, add = encoder.kernels.add_f32](const Lane& lane) {
    const Range mine = share(x.tokens, 1, lane.worker);
    for (int64_t t = mine.begin; t < mine.end; ++t) {
      float* to = y.data + t * y.cols;
      const float* from = x.data + t * x.cols;
      if (bias != nullptr) {
        add(to, from, bias, x.cols);
      } else if (to != from) {
        std::memcpy(to, from, size_t(x.cols) * sizeof(float));
      }
    }
  };
  encoder.step({"bias", work, {x.access()}, {y.access()}, {}, solo});
}

}  // namespace

void encode_fused_qkv(Encoder& encoder, const PlacedNode& placed) {
  refuse_unless_one_token(placed);
  const Node& node = *placed.node;
  const auto* norms = std::get_if<FusedQkvNorm>(&node.op);
  const FusedQkv& op = norms ? norms->qkv : std::get<FusedQkv>(node.op);
  const int64_t q_dim = op.n_heads * op.head_dim, kv_dim = op.n_kv_heads * op.head_dim;
  Values x = source(placed, 0);
  const Values y = output(placed);
  const bool fits = op.q.weight.rows == q_dim && op.k.weight.rows == kv_dim && op.v.weight.rows == kv_dim &&
                    op.q.weight.cols == op.k.weight.cols && op.q.weight.cols == op.v.weight.cols &&
                    x.cols >= op.q.weight.cols && y.cols == q_dim + 2 * kv_dim;
  if (!fits) {
    refuse(node, ErrorCode::bad_model,
           fmt::format("the source is {}, the output {}, expected {} + 2 x {} values",
                       to_string(placed.sources[0].desc), to_string(placed.output.desc), q_dim, kv_dim));
  }
  x.cols = op.q.weight.cols;
  const Values q = part(y, 0, q_dim), k = part(y, q_dim, kv_dim), v = part(y, q_dim + kv_dim, kv_dim);
  const KvPlace kv = kv_place(placed, kv_dim, op.format);
  const int32_t* positions = encoder.indices(node, placed.sources[1], 1);
  const int32_t* cells = encoder.indices(node, placed.sources[2], 1);
  const RopeTable& table = encoder.rope_table(node, op.rope, op.head_dim, positions, 1);

  emit_matmul(encoder, node, op.q, q, x);
  emit_matmul(encoder, node, op.k, k, x);
  emit_matmul(encoder, node, op.v, v, x);
  if (norms) {
    const float* q_norm = encoder.vector(node, norms->q_norm, op.head_dim);
    const float* k_norm = encoder.vector(node, norms->k_norm, op.head_dim);
    emit_norm(encoder, q, q, op.head_dim, q_norm, norms->eps);
    emit_norm(encoder, k, k, op.head_dim, k_norm, norms->eps);
  }
  emit_rope(encoder, q, q, table, op.rope.style, op.head_dim);
  emit_rope(encoder, k, k, table, op.rope.style, op.head_dim);
  emit_kv_store(encoder, node, kv, k, v, cells);
}

void encode_qkv_bias_rope_store(Encoder& encoder, const PlacedNode& placed) {
  const Node& node = *placed.node;
  const auto& op = std::get<QkvBiasRopeStore>(node.op);
  const int64_t q_dim = op.n_heads * op.head_dim, kv_dim = op.n_kv_heads * op.head_dim;
  const Values q = source(placed, 0), k = source(placed, 1), v = source(placed, 2), y = output(placed);
  const bool fits = q.cols == q_dim && k.cols == kv_dim && v.cols == kv_dim && k.tokens == q.tokens &&
                    v.tokens == q.tokens && y.elements() == q.elements();
  if (!fits) {
    refuse(node, ErrorCode::bad_model,
           fmt::format("q, k, v are {}, {}, {}, expected rows of {}, {}, {}",
                       to_string(placed.sources[0].desc), to_string(placed.sources[1].desc),
                       to_string(placed.sources[2].desc), q_dim, kv_dim, kv_dim));
  }
  const auto bias = [&](const std::optional<WeightRef>& ref, int64_t length) {
    return ref ? encoder.vector(node, *ref, length) : nullptr;
  };
  const float* q_bias = bias(op.q_bias, q_dim);
  const float* k_bias = bias(op.k_bias, kv_dim);
  const float* v_bias = bias(op.v_bias, kv_dim);
  const KvPlace kv = kv_place(placed, kv_dim, op.format);
  const int32_t* positions = encoder.indices(node, placed.sources[3], q.tokens);
  const int32_t* cells = encoder.indices(node, placed.sources[4], q.tokens);
  const RopeTable& table = encoder.rope_table(node, op.rope, op.head_dim, positions, q.tokens);

  // k and v are another node's values: their biased and rotated forms get memory of their own.
  const auto copy_of = [&](const Values& x) {
    return Values{reinterpret_cast<float*>(encoder.own(x.access().bytes)), x.cols, x.tokens};
  };
  const Values stored_k = copy_of(k), stored_v = copy_of(v);
  const Values roped_q{y.data, q.cols, q.tokens};
  emit_biased(encoder, roped_q, q, q_bias);
  emit_biased(encoder, stored_k, k, k_bias);
  emit_biased(encoder, stored_v, v, v_bias);
  emit_rope(encoder, roped_q, roped_q, table, op.rope.style, op.head_dim);
  emit_rope(encoder, stored_k, stored_k, table, op.rope.style, op.head_dim);
  emit_kv_store(encoder, node, kv, stored_k, stored_v, cells);
}

void encode_fused_ffn(Encoder& encoder, const PlacedNode& placed) {
  refuse_unless_one_token(placed);
  const Node& node = *placed.node;
  const FusedFfn& op = std::get<FusedFfn>(node.op);
  Values x = source(placed, 0);
  const Values y = output(placed);
  const bool fits = op.gate.rows == op.up.rows && op.gate.cols == op.up.cols && x.cols >= op.gate.cols &&
                    y.cols == 2 * op.gate.rows;
  if (!fits) {
    refuse(node, ErrorCode::bad_model,
           fmt::format("the source is {}, the output {}, gate [{}, {}], up [{}, {}]",
                       to_string(placed.sources[0].desc), to_string(placed.output.desc), op.gate.cols,
                       op.gate.rows, op.up.cols, op.up.rows));
  }
  x.cols = op.gate.cols;
  const Values gate = part(y, 0, op.gate.rows), up = part(y, op.gate.rows, op.up.rows);
  emit_matmul(encoder, node, {op.gate, {}}, gate, x);
  emit_matmul(encoder, node, {op.up, {}}, up, x);
  emit_swiglu(encoder, gate, gate, up);
}

}  // namespace minfer::cpu
