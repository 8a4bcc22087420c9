#include "backends/metal/ops/ops.h"

/// Ops whose kernels are not there yet: weak, so that the file that brings one wins. They refuse.
namespace minfer::metal {
namespace {

[[noreturn]] void pending(const Node& node) {
  refuse(node, ErrorCode::unsupported, "its kernels are not there yet");
}

}  // namespace

#define PENDING __attribute__((weak))
PENDING KernelNames matvec_kernels() { return {}; }
PENDING void encode_matmul(Encoder&, const PlacedNode& p) { pending(*p.node); }
PENDING void emit_matmul(Encoder&, const Node& n, const MatMul&, const Values&, const Values&) { pending(n); }
PENDING void emit_matvec_rows(Encoder&, const Node& n, std::span<const WeightRef>, const Span&,
                              const Values&) {
  pending(n);
}
PENDING void emit_matvec(Encoder&, const Node& n, const WeightRef&, const Values&, const Values&) {
  pending(n);
}

}  // namespace minfer::metal
