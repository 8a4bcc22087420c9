#include <fmt/format.h>

#include <cstring>

#include "backends/cpu/ops/ops.h"

namespace minfer::cpu {
namespace {

/// Columns [range) of one row, in the region's format. q8_0 ranges are whole blocks.
void store_columns(const KernelTable& kernels, KvFormat format, std::byte* row, const float* from,
                   Range range) {
  const int64_t n = range.end - range.begin;
  from += range.begin;
  switch (format) {
    case KvFormat::f32:
      std::memcpy(row + size_t(range.begin) * sizeof(float), from, size_t(n) * sizeof(float));
      return;
    case KvFormat::f16:
      kernels.store_f16(reinterpret_cast<uint16_t*>(row) + range.begin, from, n);
      return;
    case KvFormat::q8_0:
      kernels.store_q8_0(row + row_bytes(DType::q8_0, range.begin), from, n);
      return;
  }
}

}  // namespace

KvPlace kv_place(const PlacedNode& placed, int64_t kv_dim, KvFormat format) {
  const Node& node = *placed.node;
  if (placed.kv.k == nullptr || placed.kv.v == nullptr) {
    refuse(node, ErrorCode::unsupported, "its layer has no KV regions on this device");
  }
  const size_t bytes = kv_row_bytes(format, kv_dim);
  const size_t needed = bytes * size_t(placed.n_ctx);
  if (placed.kv.k->bytes() < needed || placed.kv.v->bytes() < needed) {
    refuse(node, ErrorCode::unsupported,
           fmt::format("its KV regions have {} and {} bytes, expected {} cells of {}", placed.kv.k->bytes(),
                       placed.kv.v->bytes(), placed.n_ctx, bytes));
  }
  return {placed.kv.k->host(), placed.kv.v->host(), kv_dim, format, bytes, placed.n_ctx};
}

void emit_kv_store(Encoder& encoder, const Node& node, const KvPlace& kv, const Values& k, const Values& v,
                   const int32_t* cells) {
  check_indices(encoder, node, "KV cell", cells, k.tokens, kv.n_ctx);
  const bool solo = k.elements() <= solo_elements;
  // Shares are columns, not tokens: should two tokens name one cell, the later one is stored, always.
  const auto work = [=, kernels = &encoder.kernels](const Lane& lane) {
    const Range mine = share(kv.kv_dim, 32, lane.worker);
    if (mine.begin == mine.end) return;
    for (int64_t t = 0; t < k.tokens; ++t) {
      const size_t at = size_t(cells[t]) * kv.row_bytes;
      store_columns(*kernels, kv.format, kv.k + at, k.data + t * kv.kv_dim, mine);
      store_columns(*kernels, kv.format, kv.v + at, v.data + t * kv.kv_dim, mine);
    }
  };
  encoder.step({"kv_store", work, {k.access(), v.access()}, {kv.k_access(), kv.v_access()}, {}, solo});
}

void encode_kv_store(Encoder& encoder, const PlacedNode& placed) {
  const Node& node = *placed.node;
  const KvStore& op = std::get<KvStore>(node.op);
  const Values k = source(placed, 0), v = source(placed, 1);
  if (k.cols != op.kv_dim || v.cols != op.kv_dim || k.tokens != v.tokens) {
    refuse(node, ErrorCode::bad_model,
           fmt::format("k is {} and v {}, expected rows of {}", to_string(placed.sources[0].desc),
                       to_string(placed.sources[1].desc), op.kv_dim));
  }
  const int32_t* cells = encoder.indices(node, placed.sources[2], k.tokens);
  emit_kv_store(encoder, node, kv_place(placed, op.kv_dim, op.format), k, v, cells);
}

}  // namespace minfer::cpu
