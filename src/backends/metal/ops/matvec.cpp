#include <fmt/format.h>

#include <algorithm>

#include "backends/metal/kernels/matvec_args.h"
#include "backends/metal/ops/kernel_term.h"
#include "backends/metal/ops/ops.h"

namespace minfer::metal {
namespace {

constexpr size_t simdgroup_threads = 32;

/// How a type's kernels share out the work.
struct Geometry {
  int64_t group_rows;  ///< rows of a threadgroup
  size_t simdgroups;
};

Geometry geometry(DType type) {
  switch (type) {
    case DType::q4_0:
    case DType::q4_1:
    case DType::q5_0:
    case DType::q5_1:
      return {matvec_32_rows * matvec_32_simdgroups, matvec_32_simdgroups};
    case DType::q8_0:
      return {matvec_q8_rows, matvec_q8_simdgroups};
    case DType::q4_k:
    case DType::q5_k:
    case DType::q6_k:
      return {matvec_k_rows * matvec_k_simdgroups, matvec_k_simdgroups};
    default:
      return {matvec_float_rows * matvec_float_simdgroups, matvec_float_simdgroups};
  }
}

std::string kernel_name(DType type, bool batch) {
  return fmt::format("matvec_{}{}_f32", batch ? "batch_" : "", kernel_term(type));
}

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Tokens of a pass over the rows: all, or equal shares of at most as many as there are accumulators for.
int64_t tokens_at_once(int64_t tokens) { return ceil_div(tokens, ceil_div(tokens, matvec_most_tokens)); }

/// Quantised kernels read four activations at a time. (Weights are aligned by the registry.)
void refuse_unaligned(const Node& node, const Values& x) {
  if (x.span.offset % 16 == 0) return;
  refuse(node, ErrorCode::unsupported,
         fmt::format("its source begins {} bytes into its buffer, expected a multiple of 16", x.span.offset));
}

/// Kernels count in 32 bits.
void refuse_too_large(const Node& node, const WeightRef& weight, int64_t tokens) {
  const size_t bytes = row_bytes(weight.type, weight.cols);
  if (bytes <= UINT32_MAX && weight.cols <= INT32_MAX && weight.rows <= INT32_MAX && tokens <= INT32_MAX)
    return;
  refuse(node, ErrorCode::unsupported,
         fmt::format("{} is [{}, {}] for {} tokens, expected rows of up to {} bytes, and up to {} columns, "
                     "rows and tokens",
                     weight.name, weight.cols, weight.rows, tokens, UINT32_MAX, INT32_MAX));
}

/// All weights have the first one's type and width.
void emit(Encoder& encoder, const Node& node, std::span<const WeightRef> weights, const Values& y,
          const Values& x, const Span* bias) {
  const WeightRef& like = weights[0];
  const Geometry shape = geometry(like.type);
  if (is_quantised(like.type)) refuse_unaligned(node, x);
  MatvecArgs args = {int32_t(like.cols),
                     int32_t(x.tokens),
                     int32_t(y.cols),
                     uint32_t(row_bytes(like.type, like.cols)),
                     {},
                     {},
                     {}};
  Span bytes[matvec_most_weights];
  int64_t groups = 0, rows = 0;
  for (size_t i = 0; i < matvec_most_weights; ++i) {
    const WeightRef& weight = weights[std::min(i, weights.size() - 1)];  // every argument needs some buffer
    bytes[i] = encoder.weight(node, weight);
    args.first_group[i] = uint32_t(groups);
    args.first_row[i] = int32_t(rows);
    if (i >= weights.size()) continue;
    refuse_too_large(node, weight, x.tokens);
    args.rows[i] = int32_t(weight.rows);
    groups += ceil_div(weight.rows, shape.group_rows);
    rows += weight.rows;
  }
  MINFER_CHECK(rows == y.cols, "a matrix-vector product fills its output");

  const bool batch = x.tokens > 1;
  DispatchBuilder dispatch = encoder.dispatch(node, kernel_name(like.type, batch),
                                              {{0, int32_t(tokens_at_once(x.tokens))}, {1, bias != nullptr}});
  dispatch.args(args).write(1, y.span).read(2, x.span);
  if (bias != nullptr) dispatch.read(3, *bias);
  for (uint32_t i = 0; i < matvec_most_weights; ++i) dispatch.read(4 + i, bytes[i]);
  dispatch.grid({size_t(groups)}, {shape.simdgroups * simdgroup_threads});
}

}  // namespace

KernelNames matvec_kernels() {
  KernelNames names;
  for (int type = 0; type < int(DType::i32); ++type) {
    names.push_back(kernel_name(DType(type), false));
    names.push_back(kernel_name(DType(type), true));
  }
  return names;
}

void emit_matvec(Encoder& encoder, const Node& node, const WeightRef& weight, const Values& y,
                 const Values& x, const Span* bias) {
  emit(encoder, node, {&weight, 1}, y, x, bias);
}

void emit_matvec_rows(Encoder& encoder, const Node& node, std::span<const WeightRef> weights, const Span& y,
                      const Values& x) {
  MINFER_CHECK(!weights.empty() && weights.size() <= matvec_most_weights && x.tokens == 1,
               "one to three weights, and one token");
  int64_t rows = 0;
  for (const WeightRef& weight : weights) {
    refuse_weight_without_kernel(node, weight);
    if (weight.type != weights[0].type || weight.cols != weights[0].cols) {
      refuse(node, ErrorCode::unsupported,
             fmt::format("{} is {} with rows of {}, expected {} with rows of {} like {}", weight.name,
                         info(weight.type).name, weight.cols, info(weights[0].type).name, weights[0].cols,
                         weights[0].name));
    }
    rows += weight.rows;
  }
  emit(encoder, node, weights, {y, rows, 1}, x, nullptr);
}

}  // namespace minfer::metal
