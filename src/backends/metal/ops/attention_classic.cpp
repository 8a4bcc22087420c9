#include <fmt/format.h>

#include "backends/metal/kernels/attention_classic_args.h"
#include "backends/metal/ops/attention_heads.h"
#include "backends/metal/ops/ops.h"

namespace minfer::metal {

constexpr size_t staged_rows = 16;  // as in attention_softmax.h

KernelNames classic_attention_kernels() {
  return {"attention_classic_f32", "attention_classic_f16", "attention_classic_q8_0"};
}

void emit_attention_classic(Encoder& encoder, const AttentionCall& call) {
  const HeadGroups heads = head_groups(call);
  encoder.dispatch(*call.node, fmt::format("attention_classic_{}", name(call.op.format)))
      .args(ClassicAttentionArgs{.n_heads = int32_t(call.op.n_heads),
                                 .group = int32_t(call.op.n_heads / call.op.n_kv_heads),
                                 .head_dim = int32_t(call.op.head_dim),
                                 .heads_a_threadgroup = int32_t(heads.heads_a_threadgroup),
                                 .row_bytes = uint32_t(call.kv.row_bytes),
                                 .scale = call.op.scale})
      .read(1, call.q.span)
      .read(2, call.kv.k)
      .read(3, call.kv.v)
      .read(4, call.positions_span)
      .write(5, call.y.span)
      .threadgroup_memory(2 * staged_rows * size_t(call.op.head_dim) * sizeof(float))
      .grid({size_t(call.q.tokens), heads.threadgroups}, {32 * heads.heads_a_threadgroup});
}

}  // namespace minfer::metal
