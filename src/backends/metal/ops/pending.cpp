#include "backends/metal/ops/ops.h"

/// Ops whose kernels are not there yet: weak, so that the file that brings one wins. They refuse.
namespace minfer::metal {
namespace {

[[noreturn]] void pending(const Node& node) {
  refuse(node, ErrorCode::unsupported, "its kernels are not there yet");
}

}  // namespace

#define PENDING __attribute__((weak))
PENDING KernelNames norm_kernels() { return {}; }
PENDING KernelNames rope_kernels() { return {}; }
PENDING KernelNames gemm_kernels() { return {}; }
PENDING KernelNames get_rows_kernels() { return {}; }
PENDING KernelNames kv_store_kernels() { return {}; }
PENDING KernelNames decode_attention_kernels() { return {}; }
PENDING KernelNames prefill_attention_kernels() { return {}; }
PENDING KernelNames classic_attention_kernels() { return {}; }
PENDING KernelNames fused_qkv_kernels() { return {}; }
PENDING void encode_norm(Encoder&, const PlacedNode& p) { pending(*p.node); }
PENDING void encode_rope(Encoder&, const PlacedNode& p) { pending(*p.node); }
PENDING void encode_get_rows(Encoder&, const PlacedNode& p) { pending(*p.node); }
PENDING void encode_kv_store(Encoder&, const PlacedNode& p) { pending(*p.node); }
PENDING void encode_attention(Encoder&, const PlacedNode& p) { pending(*p.node); }
PENDING void encode_fused_qkv(Encoder&, const PlacedNode& p) { pending(*p.node); }
PENDING void encode_fused_ffn(Encoder&, const PlacedNode& p) { pending(*p.node); }
PENDING void emit_norm(Encoder&, const Node& n, const Values&, const Values&, int64_t, const Span&, float) {
  pending(n);
}
PENDING void emit_rope(Encoder&, const Node& n, const RopeParams&, int64_t, const Values&, const Values&,
                       const Span&) {
  pending(n);
}
PENDING void emit_gemm(Encoder&, const Node& n, const WeightRef&, const Values&, const Values&) {
  pending(n);
}
PENDING void emit_kv_store(Encoder&, const Node& n, const KvPlace&, const Values&, const Values&,
                           const Operand&) {
  pending(n);
}
PENDING void emit_decode_flash(Encoder&, const AttentionCall& c) { pending(*c.node); }
PENDING void emit_decode_split(Encoder&, const AttentionCall& c) { pending(*c.node); }
PENDING void emit_prefill_flash(Encoder&, const AttentionCall& c) { pending(*c.node); }
PENDING void emit_prefill_three_pass(Encoder&, const AttentionCall& c) { pending(*c.node); }
PENDING void emit_attention_classic(Encoder&, const AttentionCall& c) { pending(*c.node); }

}  // namespace minfer::metal
