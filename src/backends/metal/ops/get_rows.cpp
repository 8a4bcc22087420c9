#include <fmt/format.h>

#include <algorithm>

#include "backends/metal/kernels/get_rows_args.h"
#include "backends/metal/ops/kernel_term.h"
#include "backends/metal/ops/ops.h"

namespace minfer::metal {
namespace {

constexpr int64_t simdgroup = 32, most_threads = 256;

std::string kernel_name(DType type) { return fmt::format("get_rows_{}", kernel_term(type)); }

/// y row t = row ids[t] of `table`.
void emit_rows(Encoder& encoder, const Node& node, const Values& y, const Span& table, DType type,
               const Span& ids) {
  const size_t bytes = row_bytes(type, y.cols);
  if (bytes > UINT32_MAX || y.cols > INT32_MAX) {
    refuse(node, ErrorCode::unsupported,
           fmt::format("rows of {} values in {} bytes, expected up to {} bytes", y.cols, bytes, UINT32_MAX));
  }
  // A thread's values; groups are as wide as a row where that is short, in whole simdgroups.
  const int64_t values = is_quantised(type) ? 16 : 4;
  const int64_t threads = (y.cols + values - 1) / values;
  const int64_t width = std::min(most_threads, (threads + simdgroup - 1) / simdgroup * simdgroup);
  encoder.dispatch(node, kernel_name(type))
      .args(GetRowsArgs{int32_t(y.cols), uint32_t(bytes)})
      .write(1, y.span)
      .read(2, table)
      .read(3, ids)
      .grid({size_t((threads + width - 1) / width), size_t(y.tokens)}, {size_t(width)});
}

}  // namespace

KernelNames get_rows_kernels() {
  KernelNames names;
  for (int type = 0; type < int(DType::i32); ++type) names.push_back(kernel_name(DType(type)));
  return names;
}

void encode_get_rows(Encoder& encoder, const PlacedNode& placed) {
  const Node& node = *placed.node;
  const auto& table = std::get<GetRows>(node.op).table;
  const Values y = output(placed);
  const Operand& ids = placed.sources.back();
  const int32_t* host_ids = encoder.indices(node, ids, y.tokens);
  if (table) {
    if (table->cols != y.cols) {
      refuse(node, ErrorCode::bad_model,
             fmt::format("the output is {}, the table's rows have {} values", to_string(placed.output.desc),
                         table->cols));
    }
    const Span bytes = encoder.weight(node, *table);
    check_indices(encoder, node, "token id", host_ids, y.tokens, table->rows);
    emit_rows(encoder, node, y, bytes, table->type, span_of(node, ids));
    return;
  }
  const Values x = source(placed, 0);
  if (x.cols != y.cols) {
    refuse(node, ErrorCode::bad_model,
           fmt::format("the output is {}, the source {}", to_string(placed.output.desc),
                       to_string(placed.sources[0].desc)));
  }
  check_indices(encoder, node, "row", host_ids, y.tokens, x.tokens);
  emit_rows(encoder, node, y, x.span, DType::f32, span_of(node, ids));
}

}  // namespace minfer::metal
