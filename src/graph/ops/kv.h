#pragma once
#include "graph/ops/op.h"

namespace minfer {

/// Writes a batch's keys and values into the layer's KV regions.
///
///   K[cells[t]] = k[t],  V[cells[t]] = v[t],  in the regions' format
///
/// Inputs   k, v: f32 [kv_dim, tokens]   cells: i32 [tokens]
/// Output   f32 [kv_dim, n_ctx]: the K region itself, so that a reader can depend on the write
/// Numerics f32 exact; f16 and q8_0 round to nearest even
/// Errors   Error{bad_model} if k, v and cells do not fit each other; a cell out of range is the device's
struct KvStore {
  static constexpr std::string_view name = "kv_store";
  int layer;
  int64_t kv_dim;
  KvFormat format;
  TensorDesc infer(const OpInputs& in) const {
    const ShapeRule rule(name);
    rule.sources(in, 3);
    rule.positive("kv_dim", kv_dim);
    rule.f32("k", in[0], kv_dim, in[0].rows());
    rule.f32("v", in[1], kv_dim, in[0].rows());
    rule.i32("cells", in[2], in[0].rows());
    kv_row_bytes(format, kv_dim);
    return desc_f32(kv_dim, in.n_ctx);
  }
  bool operator==(const KvStore&) const = default;
};  // (k, v, cells)

/// The layer's KV regions as attention reads them: no work, and no buffer of its own.
///
/// Inputs   none
/// Output   f32 [kv_dim, n_ctx]: the K region; the V region is beside it
/// Numerics none
/// Errors   Error{unsupported} if the format cannot hold rows of kv_dim
struct KvLoad {
  static constexpr std::string_view name = "kv_load";
  int layer;
  int64_t kv_dim;
  KvFormat format;
  TensorDesc infer(const OpInputs& in) const {
    const ShapeRule rule(name);
    rule.sources(in, 0);
    rule.positive("kv_dim", kv_dim);
    kv_row_bytes(format, kv_dim);
    return desc_f32(kv_dim, in.n_ctx);
  }
  bool operator==(const KvLoad&) const = default;
};  // ()

}  // namespace minfer
