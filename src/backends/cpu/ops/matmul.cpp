#include <algorithm>

#include "backends/cpu/isa/quant_scratch.h"
#include "backends/cpu/isa/quant_tokens.h"
#include "backends/cpu/ops/ops.h"
#include "graph/node_refusal.h"

namespace minfer::cpu {
namespace {

constexpr int64_t row_step = 32;    ///< pieces are whole multiples of the kernels' row groups
constexpr int64_t few_tokens = 4;   ///< up to here tokens stay in the first-level cache
constexpr int64_t many_rows = 256;  ///< rows that make up for reading many tokens once more

/// Rows that a worker takes at once: an eighth of its share, so that the last to finish is not far behind.
int64_t piece_rows(int64_t rows, int64_t tokens, int64_t workers) {
  const int64_t share = (rows + workers - 1) / workers;
  const int64_t least = tokens <= few_tokens ? row_step : std::min(share, many_rows);
  const int64_t piece = std::max(share / 8, least);
  return (piece + row_step - 1) / row_step * row_step;
}

struct Call {
  float* y;
  int64_t y_stride;
  const std::byte* weight;
  size_t weight_row_bytes;
  const float* bias;  ///< null if there is none
  int64_t cols, tokens;

  void add_bias(const KernelTable& kernels, Range rows, int64_t first, int64_t count) const {
    if (bias == nullptr) return;
    for (int64_t t = first; t < first + count; ++t) {
      float* at = y + t * y_stride + rows.begin;
      kernels.add_f32(at, at, bias + rows.begin, rows.end - rows.begin);
    }
  }
};

/// Plain: a token is one row of integers.
void multiply(const Call& call, KernelTable::MatMulQ kernel, const KernelTable& kernels, Range rows,
              const Q8Tokens& x, std::byte* scratch) {
  const std::byte* weight = call.weight + size_t(rows.begin) * call.weight_row_bytes;
  kernel(call.y + rows.begin, call.y_stride, weight, call.weight_row_bytes, rows.end - rows.begin, x,
         scratch);
  call.add_bias(kernels, rows, 0, call.tokens);
}

constexpr int64_t fine_rows = 256, fine_tokens = 128;  ///< both planes' products stay in L2 until added
constexpr size_t fine_scratch_bytes = sizeof(float) * size_t(2 * fine_rows * fine_tokens);
static_assert(2 * fine_tokens % token_tile == 0);

/// Fine: a token is two rows, whose products are added: weights are read once for both.
void multiply_fine(const Call& call, KernelTable::MatMulQ kernel, const KernelTable& kernels, Range rows,
                   const Q8Tokens& x, std::byte* scratch) {
  auto* const products = reinterpret_cast<float*>(scratch);
  std::byte* const kernel_scratch = scratch + fine_scratch_bytes;
  for (int64_t r = rows.begin; r < rows.end; r += fine_rows) {
    const Range here{r, std::min(rows.end, r + fine_rows)};
    const std::byte* weight = call.weight + size_t(r) * call.weight_row_bytes;
    for (int64_t t = 0; t < call.tokens; t += fine_tokens) {
      const int64_t count = std::min(fine_tokens, call.tokens - t);
      kernel(products, fine_rows, weight, call.weight_row_bytes, here.end - r, x.part(2 * t, 2 * count),
             kernel_scratch);
      for (int64_t i = 0; i < count; ++i) {
        const float* values = products + 2 * i * fine_rows;
        kernels.add_f32(call.y + (t + i) * call.y_stride + r, values, values + fine_rows, here.end - r);
      }
      call.add_bias(kernels, here, t, count);
    }
  }
}

void emit_quantised(Encoder& encoder, const MatMul& op, const Call& call, const Values& y, const Values& x) {
  const DType type = op.weight.type;
  const int planes = op.fine_activations ? 2 : 1;
  encoder.quantise(x, planes);
  encoder.need_scratch(matmul_scratch_bytes(x.cols) + (planes == 2 ? fine_scratch_bytes : 0));
  const auto work = [call, planes, rows = op.weight.rows, store = encoder.q8(), kernels = &encoder.kernels,
                     kernel = matmul_q(encoder.kernels, type)](const Lane& lane) {
    const Q8Tokens all{store->data, call.cols, call.tokens * planes};
    lane.share_out(rows, piece_rows(rows, call.tokens, lane.worker.count), [&](Range mine) {
      (planes == 2 ? multiply_fine : multiply)(call, kernel, *kernels, mine, all, lane.scratch);
    });
  };
  encoder.step({"matmul", work, {encoder.q8_access()}, {y.access()}});
}

void emit_float(Encoder& encoder, DType type, const Call& call, int64_t rows, const Values& y,
                const Values& x) {
  const auto work = [call, rows, x = x.data, kernels = &encoder.kernels,
                     kernel = matmul_f(encoder.kernels, type)](const Lane& lane) {
    lane.share_out(rows, piece_rows(rows, 1, lane.worker.count), [&](Range mine) {
      const std::byte* weight = call.weight + size_t(mine.begin) * call.weight_row_bytes;
      const int64_t step = strip_tokens(call.cols * int64_t(sizeof(float)));
      for (int64_t t = 0; t < call.tokens; t += step) {
        const int64_t count = std::min(step, call.tokens - t);
        kernel(call.y + t * call.y_stride + mine.begin, call.y_stride, weight, call.weight_row_bytes,
               mine.end - mine.begin, x + t * call.cols, call.cols, call.cols, count);
        call.add_bias(*kernels, mine, t, count);
      }
    });
  };
  encoder.step({"matmul", work, {x.access()}, {y.access()}});
}

}  // namespace

void emit_matmul(Encoder& encoder, const Node& node, const MatMul& op, const Values& y, const Values& x) {
  const WeightRef& w = op.weight;
  const std::byte* weight = encoder.weight(node, w);
  const float* bias = op.bias ? encoder.vector(node, *op.bias, w.rows) : nullptr;
  const Call call{y.data, y.cols, weight, row_bytes(w.type, w.cols), bias, w.cols, x.tokens};
  if (is_quantised(w.type)) {
    emit_quantised(encoder, op, call, y, x);
  } else {
    emit_float(encoder, w.type, call, w.rows, y, x);
  }
}

void encode_matmul(Encoder& encoder, const PlacedNode& placed) {
  const Node& node = *placed.node;
  const MatMul& op = std::get<MatMul>(node.op);
  Values x = source(placed, 0);
  const Values y = output(placed);
  const std::string why = matmul_shape_refusal(op, placed.sources[0].desc, placed.output.desc);
  if (!why.empty()) refuse(node, ErrorCode::bad_model, why);
  x.cols = op.weight.cols;
  emit_matmul(encoder, node, op, y, x);
}

}  // namespace minfer::cpu
