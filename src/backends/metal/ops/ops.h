#pragma once
#include "backends/metal/encoder.h"

/// Ops as dispatches. `encode_*` takes a placed node; `emit_*` takes resolved memory and is what the fused
/// ops are made of too, so that a fused op computes the bits of its expansion.
namespace minfer::metal {

/// The static refusals that need the node alone; empty if it can run. Asked by supports and by encode.
std::string refusal(const Node& node);
void encode_node(Encoder& encoder, const PlacedNode& placed);

/// Source `index` (or the output) as f32 rows; refuses another dtype or too small a buffer.
Values source(const PlacedNode& placed, size_t index);
Values output(const PlacedNode& placed);

/// The kernels that each family needs: a device whose library lacks one of them is refused when it is opened.
using KernelNames = std::vector<std::string>;
KernelNames elementwise_kernels();
KernelNames norm_kernels();
KernelNames rope_kernels();
KernelNames matvec_kernels();
KernelNames gemm_kernels();
KernelNames get_rows_kernels();
KernelNames kv_store_kernels();
KernelNames decode_attention_kernels();
KernelNames prefill_attention_kernels();
KernelNames classic_attention_kernels();
KernelNames fused_qkv_kernels();
KernelNames required_kernels();  ///< all of them

// elementwise.cpp
void encode_elementwise(Encoder& encoder, const PlacedNode& placed);  ///< Add, Mul, Silu, SwiGlu
void encode_copy(Encoder& encoder, const PlacedNode& placed);         ///< View, Reshape
void encode_capture(Encoder& encoder, const PlacedNode& placed);      ///< the output to PlacedNode::capture
void emit_add(Encoder& encoder, const Node& node, const Span& y, const Span& a, const Span& b, int64_t count);
void emit_add_row(Encoder& encoder, const Node& node, const Values& y, const Span& row);  ///< y[t] += row
void emit_swiglu(Encoder& encoder, const Node& node, const Span& y, const Span& gate, const Span& up,
                 int64_t count);
void emit_copy(Encoder& encoder, const Node& node, const Span& to, const Span& from);

// norm.cpp
void encode_norm(Encoder& encoder, const PlacedNode& placed);  ///< RmsNorm, QkNorm
/// Rows of `width` values, each normalised by itself; y may be x.
void emit_norm(Encoder& encoder, const Node& node, const Values& y, const Values& x, int64_t width,
               const Span& gain, float eps);

// rope.cpp
void encode_rope(Encoder& encoder, const PlacedNode& placed);
/// `positions`: i32 [tokens]. y may be x.
void emit_rope(Encoder& encoder, const Node& node, const RopeParams& rope, int64_t head_dim, const Values& y,
               const Values& x, const Span& positions);
/// How far a position turns each pair of a head: RopeFrequency [head_dim / 2], what kernels/rope.h's rope_turn reads.
Span rope_frequencies(Encoder& encoder, const Node& node, const RopeParams& rope, int64_t head_dim);

// matmul.cpp: which of the tiers; matvec.cpp and gemm.cpp
enum class MatmulTier {
  single,       ///< one token: a matrix-vector product
  small_batch,  ///< tokens that have an accumulator each: the weight is read once
  multi,        ///< more, in passes over the rows
  gemm,         ///< tiles of rows by tokens
};
/// The first three give a token the same bits; the GEMM adds up in another order.
MatmulTier matmul_tier(DType type, int64_t tokens, int64_t rows, const Settings& settings);
/// Refuses a type that no kernel multiplies, and rows that are no whole number of blocks.
void refuse_weight_without_kernel(const Node& node, const WeightRef& weight);
void encode_matmul(Encoder& encoder, const PlacedNode& placed);
/// y = W x, y += bias, by the tier for x.tokens.
void emit_matmul(Encoder& encoder, const Node& node, const MatMul& op, const Values& y, const Values& x);
/// Up to three weights of one type and width as if their rows followed one another: one dispatch, no copy.
/// One token; the same bits as a matmul each.
void emit_matvec_rows(Encoder& encoder, const Node& node, std::span<const WeightRef> weights, const Span& y,
                      const Values& x);
/// Any number of tokens. `bias`: f32 of the weight's rows, added to each token's; the bits of emit_add_row.
void emit_matvec(Encoder& encoder, const Node& node, const WeightRef& weight, const Values& y, const Values& x,
                 const Span* bias = nullptr);
void emit_gemm(Encoder& encoder, const Node& node, const WeightRef& weight, const Values& y, const Values& x);

// get_rows.cpp
void encode_get_rows(Encoder& encoder, const PlacedNode& placed);

/// A layer's regions.
struct KvPlace {
  Span k, v;  ///< n_ctx rows of row_bytes
  int64_t kv_dim;
  KvFormat format;
  size_t row_bytes;
  int64_t n_ctx;
};
KvPlace kv_place(const PlacedNode& placed, int64_t kv_dim, KvFormat format);

// kv_store.cpp
void encode_kv_store(Encoder& encoder, const PlacedNode& placed);
/// Rows of k and v to `cells`: i32 [tokens]. Checks cells against n_ctx.
void emit_kv_store(Encoder& encoder, const Node& node, const KvPlace& kv, const Values& k, const Values& v,
                   const Operand& cells);

// attention.cpp chooses; attention_decode.cpp, attention_prefill.cpp, attention_classic.cpp
void encode_attention(Encoder& encoder, const PlacedNode& placed);

/// What every attention kernel family is given.
struct AttentionCall {
  const Node* node;
  Attention op;
  Values q, y;
  KvPlace kv;
  const int32_t* positions;  ///< host view, [q.tokens], read anew at every replay
  Span positions_span;
};
/// Visible rows at this replay: the largest position + 1.
int64_t visible_rows(const AttentionCall& call);
/// An f32 copy of packed regions in scratch, row i that of cell i, as far as each replay's queries see.
KvPlace emit_kv_unpack(Encoder& encoder, const AttentionCall& call);
void emit_decode_flash(Encoder& encoder, const AttentionCall& call);
void emit_decode_split(Encoder& encoder, const AttentionCall& call);
void emit_prefill_flash(Encoder& encoder, const AttentionCall& call);
void emit_prefill_three_pass(Encoder& encoder, const AttentionCall& call);
void emit_attention_classic(Encoder& encoder, const AttentionCall& call);

// fused_qkv.cpp, fused_ffn.cpp
void encode_fused_qkv(Encoder& encoder, const PlacedNode& placed);  ///< FusedQkv, FusedQkvNorm
void encode_fused_ffn(Encoder& encoder, const PlacedNode& placed);

/// Data checks of i32 inputs: 0 <= value < limit, or Error{bad_request} naming node, value and limit.
void check_indices(Encoder& encoder, const Node& node, std::string what, const int32_t* data, int64_t count,
                   int64_t limit);

}  // namespace minfer::metal
