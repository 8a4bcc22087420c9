#include <fmt/format.h>

#include <algorithm>

#include "backends/metal/kernels/gemm_args.h"
#include "backends/metal/ops/half_range.h"
#include "backends/metal/ops/kernel_term.h"
#include "backends/metal/ops/ops.h"
#include "base/log.h"

namespace minfer::metal {
namespace {

std::string kernel_name(DType type, bool half) {
  return fmt::format("gemm_{}_{}", kernel_term(type), half ? "f16" : "f32");
}

/// Operands of 4 or 2 bytes, and over them the results of a tile at the edge.
size_t threadgroup_bytes(bool half) {
  return std::max<size_t>(gemm_operand_elements * (half ? 2 : 4), gemm_result_elements * sizeof(float));
}

size_t tiles(int64_t count, int64_t size) { return size_t((count + size - 1) / size); }

GemmArgs args_for(const Node& node, const WeightRef& weight, int64_t tokens) {
  const size_t bytes = row_bytes(weight.type, weight.cols);
  if (bytes > UINT32_MAX || weight.rows > INT32_MAX || tokens > INT32_MAX) {
    refuse(node, ErrorCode::unsupported,
           fmt::format(
               "{} is [{}, {}] for {} tokens, expected rows of up to {} bytes and up to {} rows and tokens",
               weight.name, weight.cols, weight.rows, tokens, UINT32_MAX, INT32_MAX));
  }
  return {int32_t(weight.cols), int32_t(weight.rows), int32_t(tokens), uint32_t(bytes)};
}

/// One power of two a token, by which its activations fit a half.
Span emit_row_scales(Encoder& encoder, const Node& node, const GemmArgs& args, const Values& x) {
  const Span scales = encoder.scratch("gemm.row_scales").ensure(size_t(x.tokens) * sizeof(float));
  encoder.dispatch(node, "row_scales_f32")
      .args(args)
      .write(1, scales)
      .read(2, x.span)
      .grid({size_t(x.tokens)}, {32});
  return scales;
}

}  // namespace

KernelNames gemm_kernels() {
  KernelNames names = {"row_scales_f32"};
  for (int type = 0; type < int(DType::i32); ++type) {
    names.push_back(kernel_name(DType(type), false));
    if (may_fit_half(DType(type))) names.push_back(kernel_name(DType(type), true));
  }
  return names;
}

void emit_gemm(Encoder& encoder, const Node& node, const WeightRef& weight, const Values& y,
               const Values& x) {
  const Span bytes = encoder.weight(node, weight);
  const GemmArgs args = args_for(node, weight, x.tokens);
  const bool half = encoder.settings.half_staging && fits_half(weight, bytes.host());
  if (encoder.settings.half_staging && !half) {
    log(LogLevel::info, "{}: {} is staged as f32: {} values may lie beyond a half", node.name, weight.name,
        info(weight.type).name);
  }
  const Span scales = half ? emit_row_scales(encoder, node, args, x) : Span{};
  DispatchBuilder dispatch = encoder.dispatch(node, kernel_name(weight.type, half));
  dispatch.args(args).write(1, y.span).read(2, bytes).read(3, x.span);
  if (half) dispatch.read(4, scales);
  dispatch.threadgroup_memory(threadgroup_bytes(half))
      .grid({tiles(x.tokens, gemm_tokens), tiles(weight.rows, gemm_rows)}, {gemm_threads});
}

}  // namespace minfer::metal
