#include "backends/metal/kernels/kv_unpack_args.h"
#include "backends/metal/ops/ops.h"

namespace minfer::metal {

KvPlace emit_kv_unpack(Encoder& encoder, const AttentionCall& call) {
  const KvPlace& packed = call.kv;
  MINFER_CHECK(packed.format == KvFormat::q8_0, "only packed rows are unpacked");
  KvPlace plain = packed;
  plain.format = KvFormat::f32;
  plain.row_bytes = kv_row_bytes(KvFormat::f32, packed.kv_dim);
  plain.k = encoder.scratch("unpacked_k").ensure(plain.row_bytes * size_t(packed.n_ctx));
  plain.v = encoder.scratch("unpacked_v").ensure(plain.row_bytes * size_t(packed.n_ctx));

  const size_t columns = (size_t(packed.kv_dim) + kv_unpack_columns - 1) / kv_unpack_columns;
  Dispatch& dispatch =
      encoder.dispatch(*call.node, "kv_unpack_q8_0")
          .args(KvUnpackArgs{0, int32_t(packed.kv_dim), uint32_t(packed.row_bytes)})
          .read(1, packed.k)
          .read(2, packed.v)
          .write(3, plain.k)
          .write(4, plain.v)
          .grid({columns, 1, 2}, {kv_unpack_columns / kv_unpack_columns_a_thread, kv_unpack_rows})
          .done();
  encoder.prepare([&dispatch, call] {
    const int64_t rows = visible_rows(call);
    dispatch.args<KvUnpackArgs>().rows = int32_t(rows);
    dispatch.groups.y = size_t(rows + kv_unpack_rows - 1) / kv_unpack_rows;
  });
  return plain;
}

}  // namespace minfer::metal
