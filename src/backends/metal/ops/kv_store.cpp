#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "backends/metal/kernels/kv_store_args.h"
#include "backends/metal/ops/ops.h"

namespace minfer::metal {
namespace {

constexpr int64_t threads_a_group = 64;  ///< four columns each
constexpr int64_t blocks_a_group = 4;    ///< of q8_0, a simdgroup each

size_t groups(int64_t count, int64_t a_group) { return size_t((count + a_group - 1) / a_group); }

bool names_a_cell_twice(const int32_t* cells, int64_t tokens) {
  std::unordered_set<int32_t> seen;
  return std::any_of(cells, cells + tokens, [&](int32_t cell) { return !seen.insert(cell).second; });
}

}  // namespace

KernelNames kv_store_kernels() { return {"kv_store_f32", "kv_store_f16", "kv_store_q8_0"}; }

void emit_kv_store(Encoder& encoder, const Node& node, const KvPlace& kv, const Values& k, const Values& v,
                   const Operand& cells) {
  const int64_t tokens = k.tokens;
  const int32_t* rows = encoder.indices(node, cells, tokens);
  check_indices(encoder, node, "KV cell", rows, tokens, kv.n_ctx);

  const bool packed = kv.format == KvFormat::q8_0;
  const size_t across =
      packed ? groups(kv.kv_dim / 32, blocks_a_group) : groups(kv.kv_dim, 4 * threads_a_group);
  const size_t threads = packed ? 32 * blocks_a_group : threads_a_group;
  Dispatch& dispatch = encoder.dispatch(node, fmt::format("kv_store_{}", name(kv.format)))
                           .args(KvStoreArgs{int32_t(kv.kv_dim), 1, uint32_t(kv.row_bytes)})
                           .read(1, k.span)
                           .read(2, v.span)
                           .read(3, span_of(node, cells))
                           .write(4, kv.k)
                           .write(5, kv.v)
                           .grid({across, size_t(tokens), 2}, {threads})
                           .done();
  if (tokens == 1) return;
  // Two threads of one cell would race. The later token wins, as everywhere: one thread takes them in order.
  encoder.prepare([&dispatch, rows, tokens] {
    const bool twice = names_a_cell_twice(rows, tokens);
    dispatch.args<KvStoreArgs>().tokens_a_thread = twice ? int32_t(tokens) : 1;
    dispatch.groups.y = twice ? 1 : size_t(tokens);
  });
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
  emit_kv_store(encoder, node, kv_place(placed, op.kv_dim, op.format), k, v, placed.sources[2]);
}

}  // namespace minfer::metal
