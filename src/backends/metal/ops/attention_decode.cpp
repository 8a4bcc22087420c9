#include <fmt/format.h>

#include <algorithm>

#include "backends/metal/kernels/attention_decode_args.h"
#include "backends/metal/ops/attention_heads.h"
#include "backends/metal/ops/attention_route.h"
#include "backends/metal/ops/ops.h"

namespace minfer::metal {
namespace {

constexpr int64_t rows_a_step = 32;  // as in attention_decode.metal
constexpr int64_t most_chunks = 16;
constexpr size_t staged_rows = 16;  // as in attention_softmax.h

/// Shares of the rows: a function of their number alone, so that results are, too. `fixed` if not 0.
int64_t chunks_for(int64_t visible, int64_t fixed) {
  if (fixed > 0) return fixed;
  return std::clamp<int64_t>((visible + rows_a_step - 1) / rows_a_step, 1, most_chunks);
}

/// What chunks leave for the combining kernel: a pair (m, s) and o each.
struct Records {
  Span sums, outputs;
};
Records records_for(Encoder& encoder, const AttentionCall& call) {
  const int64_t chunks =
      chunks_for(call.kv.n_ctx, encoder.settings.attention_chunks);  // of the longest replay
  const size_t count = size_t(call.q.tokens * call.op.n_heads * chunks);
  const size_t outputs = count * size_t(call.op.head_dim) * sizeof(float), sums = count * 2 * sizeof(float);
  const Span memory = encoder.scratch("attention records").ensure(outputs + sums);
  return {memory.part(outputs, sums), memory.part(0, outputs)};
}

void refuse_other_widths(const AttentionCall& call) {
  if (has_fast_width(call.op.head_dim)) return;
  refuse(*call.node, ErrorCode::unsupported,
         fmt::format("heads of {} have no kernel of this kind, expected 64, 80, 96, 128 or 256",
                     call.op.head_dim));
}

DecodeAttentionArgs args_for(const AttentionCall& call, const HeadGroups& heads) {
  return {.n_heads = int32_t(call.op.n_heads),
          .group = int32_t(call.op.n_heads / call.op.n_kv_heads),
          .head_dim = int32_t(call.op.head_dim),
          .heads_a_threadgroup = int32_t(heads.heads_a_threadgroup),
          .chunks = 1,
          .rows_a_chunk = 0,
          .row_bytes = uint32_t(call.kv.row_bytes),
          .scale = call.op.scale};
}

/// The kernel that leaves records; its grid and arguments follow `visible_rows`.
Dispatch& emit_records(Encoder& encoder, const AttentionCall& call, std::string_view kernel,
                       const Records& records, size_t threadgroup_bytes) {
  const HeadGroups heads = head_groups(call);
  return encoder
      .dispatch(*call.node, fmt::format("{}_{}_hd{}", kernel, name(call.op.format), call.op.head_dim))
      .args(args_for(call, heads))
      .read(1, call.q.span)
      .read(2, call.kv.k)
      .read(3, call.kv.v)
      .read(4, call.positions_span)
      .write(5, records.sums)
      .write(6, records.outputs)
      .threadgroup_memory(threadgroup_bytes)
      .grid({size_t(call.q.tokens), heads.threadgroups, 1}, {32 * heads.heads_a_threadgroup})
      .done();
}

Dispatch& emit_combine(Encoder& encoder, const AttentionCall& call, const Records& records) {
  return encoder.dispatch(*call.node, "decode_combine")
      .args(CombineArgs{int32_t(call.op.n_heads), int32_t(call.op.head_dim), 1})
      .read(1, records.sums)
      .read(2, records.outputs)
      .write(3, call.y.span)
      .grid({size_t(call.op.n_heads), size_t(call.q.tokens)}, {32})
      .done();
}

void emit_decode(Encoder& encoder, const AttentionCall& call, std::string_view kernel,
                 size_t threadgroup_bytes) {
  refuse_other_widths(call);
  const Records records = records_for(encoder, call);
  Dispatch& attend = emit_records(encoder, call, kernel, records, threadgroup_bytes);
  Dispatch& combine = emit_combine(encoder, call, records);
  encoder.prepare([&attend, &combine, call, fixed = encoder.settings.attention_chunks] {
    const int64_t visible = visible_rows(call), chunks = chunks_for(visible, fixed);
    attend.groups.z = size_t(chunks);
    auto& args = attend.args<DecodeAttentionArgs>();
    args.chunks = combine.args<CombineArgs>().chunks = int32_t(chunks);
    args.rows_a_chunk = int32_t((visible + chunks - 1) / chunks);
  });
}

}  // namespace

KernelNames decode_attention_kernels() {
  KernelNames names = {"decode_combine"};
  for (const int width : {64, 80, 96, 128, 256}) {
    for (const char* format : {"f32", "f16", "q8_0"})
      names.push_back(fmt::format("decode_flash_{}_hd{}", format, width));
    for (const char* format : {"f32", "f16"})
      names.push_back(fmt::format("decode_split_{}_hd{}", format, width));
  }
  return names;
}

void emit_decode_flash(Encoder& encoder, const AttentionCall& call) {
  emit_decode(encoder, call, "decode_flash", 0);
}

void emit_decode_split(Encoder& encoder, const AttentionCall& call) {
  emit_decode(encoder, call, "decode_split", 2 * staged_rows * size_t(call.op.head_dim) * sizeof(float));
}

}  // namespace minfer::metal
