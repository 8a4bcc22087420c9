#include <fmt/format.h>

#include <cstring>

#include "backends/cpu/ops/ops.h"
#include "quant/quant.h"

namespace minfer::cpu {
namespace {

/// y row t = decode(table row ids[t]).
void emit_rows(Encoder& encoder, const Values& y, const std::byte* table, DType type, const int32_t* ids,
               std::vector<Access> reads) {
  const bool solo = y.elements() <= solo_elements;
  const auto work = [=, bytes = row_bytes(type, y.cols)](const Lane& lane) {
    const Range mine = share(y.tokens, 1, lane.worker);
    for (int64_t t = mine.begin; t < mine.end; ++t) {
      const std::byte* row = table + size_t(ids[t]) * bytes;
      if (type == DType::f32) {
        std::memcpy(y.data + t * y.cols, row, bytes);
      } else {
        decode_row(type, row, y.data + t * y.cols, y.cols);
      }
    }
  };
  encoder.step({"get_rows", work, std::move(reads), {y.access()}, {}, solo});
}

}  // namespace

void encode_get_rows(Encoder& encoder, const PlacedNode& placed) {
  const Node& node = *placed.node;
  const auto& table = std::get<GetRows>(node.op).table;
  const Values y = output(placed);
  const int32_t* ids = encoder.indices(node, placed.sources.back(), y.tokens);
  if (table) {
    if (table->cols != y.cols) {
      refuse(node, ErrorCode::bad_model,
             fmt::format("the output is {}, the table's rows have {} values", to_string(placed.output.desc),
                         table->cols));
    }
    const std::byte* bytes = encoder.weight(node, *table);
    check_indices(encoder, node, "token id", ids, y.tokens, table->rows);
    emit_rows(encoder, y, bytes, table->type, ids, {});
    return;
  }
  const Values x = source(placed, 0);
  if (x.cols != y.cols) {
    refuse(node, ErrorCode::bad_model,
           fmt::format("the output is {}, the source {}", to_string(placed.output.desc),
                       to_string(placed.sources[0].desc)));
  }
  check_indices(encoder, node, "row", ids, y.tokens, x.tokens);
  emit_rows(encoder, y, reinterpret_cast<const std::byte*>(x.data), DType::f32, ids, {x.access()});
}

}  // namespace minfer::cpu
