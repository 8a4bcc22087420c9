#pragma once
#include "backends/cpu/encoder.h"

/// Ops as steps. `encode_*` takes a placed node; `emit_*` takes resolved memory and is what the fused ops are
/// made of too, so that a fused op computes the bits of its expansion.
namespace minfer::cpu {

/// The static refusals that need the node alone; empty if it can run. Asked by supports and by encode.
std::string refusal(const Node& node);

void encode_node(Encoder& encoder, const PlacedNode& placed);

void encode_elementwise(Encoder& encoder, const PlacedNode& placed);
void encode_norm(Encoder& encoder, const PlacedNode& placed);
void encode_matmul(Encoder& encoder, const PlacedNode& placed);
void encode_get_rows(Encoder& encoder, const PlacedNode& placed);
void encode_rope(Encoder& encoder, const PlacedNode& placed);
void encode_kv_store(Encoder& encoder, const PlacedNode& placed);
void encode_attention(Encoder& encoder, const PlacedNode& placed);
void encode_copy(Encoder& encoder, const PlacedNode& placed);
void encode_capture(Encoder& encoder, const PlacedNode& placed);  ///< the output to PlacedNode::capture
void encode_fused_qkv(Encoder& encoder, const PlacedNode& placed);
void encode_qkv_bias_rope_store(Encoder& encoder, const PlacedNode& placed);
void encode_fused_ffn(Encoder& encoder, const PlacedNode& placed);

/// Source `index` (or the output) as f32 rows; refuses another dtype or too small a buffer.
Values source(const PlacedNode& placed, size_t index);
Values output(const PlacedNode& placed);

/// Fills the program's store with x. With two planes token t has rows 2t and 2t + 1: its values, and what
/// rounding those left over.
void emit_quantise(Encoder& encoder, const Values& x, int planes);
void emit_swiglu(Encoder& encoder, const Values& y, const Values& gate, const Values& up);
/// Rows of `width` values, each normalised by itself; y may be x.
void emit_norm(Encoder& encoder, const Values& y, const Values& x, int64_t width, const float* weight,
               float eps);
void emit_matmul(Encoder& encoder, const Node& node, const MatMul& op, const Values& y, const Values& x);
/// y = rotated x; y may be x.
void emit_rope(Encoder& encoder, const Values& y, const Values& x, const RopeTable& table, RopeStyle style,
               int64_t head_dim);

struct KvPlace {
  std::byte* k;
  std::byte* v;
  int64_t kv_dim;
  KvFormat format;
  size_t row_bytes;
  int64_t n_ctx;
  Access k_access() const { return {k, row_bytes * size_t(n_ctx)}; }
  Access v_access() const { return {v, row_bytes * size_t(n_ctx)}; }
};
KvPlace kv_place(const PlacedNode& placed, int64_t kv_dim, KvFormat format);
void emit_kv_store(Encoder& encoder, const Node& node, const KvPlace& kv, const Values& k, const Values& v,
                   const int32_t* cells);

/// Data checks of i32 inputs: 0 <= value < limit, or Error{bad_request} naming node, value and limit.
void check_indices(Encoder& encoder, const Node& node, std::string what, const int32_t* data, int64_t count,
                   int64_t limit);

}  // namespace minfer::cpu
