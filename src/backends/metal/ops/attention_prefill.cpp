#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "backends/metal/kernels/attention_prefill_args.h"
#include "backends/metal/ops/ops.h"

/// Attention of many queries: in tiles, and the plain three passes that the tiles are compared with.
namespace minfer::metal {
namespace {

constexpr int64_t flash_widths[] = {64, 80, 96, 128, 256};
constexpr size_t simdgroup_threads = 32, three_pass_threads = 256;
constexpr size_t most_score_bytes = size_t(16) << 20;  ///< unless one query needs more

std::string_view element(const AttentionCall& call) {
  MINFER_CHECK(call.kv.format != KvFormat::q8_0, "packed rows are unpacked before");
  return name(call.kv.format);
}

int32_t kv_stride(const AttentionCall& call) {
  return int32_t(call.kv.row_bytes / (call.kv.format == KvFormat::f32 ? 4 : 2));
}

int32_t heads_per_kv_head(const AttentionCall& call) { return int32_t(call.op.n_heads / call.op.n_kv_heads); }

/// The queries first .. first + tokens - 1, as if there were no others.
AttentionCall part_of(const AttentionCall& call, int64_t first, int64_t tokens) {
  const auto part = [&](const Span& span, int64_t cols) {
    const size_t row = size_t(cols) * 4;
    return span.part(size_t(first) * row, size_t(tokens) * row);
  };
  AttentionCall some = call;
  some.q = {part(call.q.span, call.q.cols), call.q.cols, tokens};
  some.y = {part(call.y.span, call.y.cols), call.y.cols, tokens};
  some.positions += first;
  some.positions_span = part(call.positions_span, 1);
  return some;
}

/// `scores`: [tokens][heads][n_ctx].
void emit_passes(Encoder& encoder, const AttentionCall& call, const Span& scores) {
  const ThreePassArgs args = {
      int32_t(call.op.n_heads), heads_per_kv_head(call), int32_t(call.op.head_dim), int32_t(call.q.cols),
      int32_t(call.y.cols),     kv_stride(call),         int32_t(call.kv.n_ctx),    call.op.scale};
  const Extent groups = {size_t(call.q.tokens), size_t(call.op.n_heads)}, threads = {three_pass_threads};
  encoder.dispatch(*call.node, fmt::format("three_pass_scores_{}", element(call)))
      .args(args)
      .read(1, call.q.span)
      .read(2, call.kv.k)
      .read(3, call.positions_span)
      .write(4, scores)
      .grid(groups, threads);
  encoder.dispatch(*call.node, "three_pass_softmax")
      .args(args)
      .read(1, call.positions_span)
      .write(2, scores)
      .grid(groups, threads);
  encoder.dispatch(*call.node, fmt::format("three_pass_sums_{}", element(call)))
      .args(args)
      .read(1, scores)
      .read(2, call.kv.v)
      .read(3, call.positions_span)
      .write(4, call.y.span)
      .grid(groups, threads);
}

}  // namespace

KernelNames prefill_attention_kernels() {
  KernelNames names = {"three_pass_softmax", "kv_unpack_q8_0"};
  for (const std::string_view format : {"f32", "f16"}) {
    names.push_back(fmt::format("three_pass_scores_{}", format));
    names.push_back(fmt::format("three_pass_sums_{}", format));
    for (const int64_t width : flash_widths) {
      names.push_back(fmt::format("prefill_flash_{}_hd{}", format, width));
    }
  }
  return names;
}

void emit_prefill_flash(Encoder& encoder, const AttentionCall& call) {
  const int64_t width = call.op.head_dim;
  MINFER_CHECK(std::count(std::begin(flash_widths), std::end(flash_widths), width) == 1,
               "other widths take another route");
  const PrefillFlashArgs args = {int32_t(call.q.tokens), heads_per_kv_head(call), int32_t(call.q.cols),
                                 int32_t(call.y.cols),   kv_stride(call),         call.op.scale};
  const int64_t floats = prefill_queries * (width + prefill_row_padding) + prefill_fixed_floats;
  const int64_t tiles = (call.q.tokens + prefill_queries - 1) / prefill_queries;
  encoder.dispatch(*call.node, fmt::format("prefill_flash_{}_hd{}", element(call), width))
      .args(args)
      .read(1, call.q.span)
      .read(2, call.kv.k)
      .read(3, call.kv.v)
      .read(4, call.positions_span)
      .write(5, call.y.span)
      .threadgroup_memory(size_t(floats) * sizeof(float))
      .grid({size_t(tiles), size_t(call.op.n_heads)}, {prefill_simdgroups * simdgroup_threads});
}

/// A few queries at a time, so that their scores fit into most_score_bytes.
void emit_prefill_three_pass(Encoder& encoder, const AttentionCall& call) {
  const size_t query_bytes = size_t(call.op.n_heads * call.kv.n_ctx) * sizeof(float);
  const int64_t most = std::clamp<int64_t>(int64_t(most_score_bytes / query_bytes), 1, call.q.tokens);
  const Span scores = encoder.scratch("attention_scores").ensure(size_t(most) * query_bytes);
  for (int64_t first = 0; first < call.q.tokens; first += most) {
    const AttentionCall some = part_of(call, first, std::min(most, call.q.tokens - first));
    emit_passes(encoder, some, scores.part(0, size_t(some.q.tokens) * query_bytes));
  }
}

}  // namespace minfer::metal
