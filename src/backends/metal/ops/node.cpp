#include <fmt/format.h>

#include "backends/metal/ops/ops.h"
#include "graph/node_refusal.h"

/// Which nodes this device runs, and which file encodes them.
namespace minfer::metal {
namespace {

/// What this device lacks of what others have.
struct Missing {
  std::string operator()(const Attention& op) const {
    if (op.window == WindowKind::causal) return {};
    return "windows of several sequences have no kernel here yet";
  }
  std::string operator()(const FusedFfn& op) const {
    if (op.gate.type == op.up.type) return {};
    return fmt::format("weights of {} and {}, expected one type", info(op.gate.type).name,
                       info(op.up.type).name);
  }
  std::string operator()(const QkvBiasRopeStore&) const { return "it has no kernel here"; }
  std::string operator()(const Scale&) const { return "it has no kernel here"; }
  std::string operator()(const Softmax&) const { return "it has no kernel here"; }
  std::string operator()(const Permute&) const { return "it has no kernel here"; }
  template <class Other>
  std::string operator()(const Other&) const {
    return {};
  }
};

struct Encode {
  Encoder& encoder;
  const PlacedNode& placed;

  // Inputs are filled by the caller and KV regions are read where they are.
  void operator()(const Input&) const {}
  void operator()(const KvLoad&) const {}
  void operator()(const RmsNorm&) const { encode_norm(encoder, placed); }
  void operator()(const QkNorm&) const { encode_norm(encoder, placed); }
  void operator()(const MatMul&) const { encode_matmul(encoder, placed); }
  void operator()(const GetRows&) const { encode_get_rows(encoder, placed); }
  void operator()(const Rope&) const { encode_rope(encoder, placed); }
  void operator()(const Attention&) const { encode_attention(encoder, placed); }
  void operator()(const KvStore&) const { encode_kv_store(encoder, placed); }
  void operator()(const View&) const { encode_copy(encoder, placed); }
  void operator()(const Reshape&) const { encode_copy(encoder, placed); }
  void operator()(const FusedQkv&) const { encode_fused_qkv(encoder, placed); }
  void operator()(const FusedQkvNorm&) const { encode_fused_qkv(encoder, placed); }
  void operator()(const FusedFfn&) const { encode_fused_ffn(encoder, placed); }
  template <class Elementwise>
  void operator()(const Elementwise&) const {
    encode_elementwise(encoder, placed);
  }
};

Values values(const Node& node, const Operand& operand, std::string_view what) {
  if (operand.desc.dtype != DType::f32) {
    refuse(node, ErrorCode::unsupported,
           fmt::format("{} is {}, expected f32", what, to_string(operand.desc)));
  }
  return {span_of(node, operand), operand.desc.cols(), operand.desc.rows()};
}

}  // namespace

std::string refusal(const Node& node) {
  std::string why = std::visit(Missing{}, node.op);
  return why.empty() ? node_refusal(node) : why;
}

void encode_node(Encoder& encoder, const PlacedNode& placed) {
  const std::string why = refusal(*placed.node);
  if (!why.empty()) refuse(*placed.node, ErrorCode::unsupported, why);
  std::visit(Encode{encoder, placed}, placed.node->op);
  if (placed.capture != nullptr) encode_capture(encoder, placed);
}

KernelNames required_kernels() {
  KernelNames all = {"warm_up"};
  for (const auto family : {elementwise_kernels, norm_kernels, rope_kernels, matvec_kernels, gemm_kernels,
                            get_rows_kernels, kv_store_kernels, decode_attention_kernels,
                            prefill_attention_kernels, classic_attention_kernels, fused_qkv_kernels}) {
    for (std::string& kernel : family()) all.push_back(std::move(kernel));
  }
  return all;
}

Values source(const PlacedNode& placed, size_t index) {
  MINFER_CHECK(index < placed.sources.size(), "a placed node has all its sources");
  return values(*placed.node, placed.sources[index], fmt::format("source {}", index));
}

Values output(const PlacedNode& placed) { return values(*placed.node, placed.output, "the output"); }

KvPlace kv_place(const PlacedNode& placed, int64_t kv_dim, KvFormat format) {
  if (placed.kv.k == nullptr || placed.kv.v == nullptr) {
    refuse(*placed.node, ErrorCode::unsupported, "its layer has no KV regions");
  }
  const size_t row = kv_row_bytes(format, kv_dim), bytes = row * size_t(placed.n_ctx);
  const TensorDesc desc = {DType::f32, {int64_t(bytes / 4), 1, 1, 1}};
  if (placed.kv.k->bytes() < bytes || placed.kv.v->bytes() < bytes) {
    refuse(*placed.node, ErrorCode::bad_model,
           fmt::format("KV regions of {} and {} bytes, expected {} for {} rows", placed.kv.k->bytes(),
                       placed.kv.v->bytes(), bytes, placed.n_ctx));
  }
  Span k = span_of(*placed.node, {placed.kv.k, desc}), v = span_of(*placed.node, {placed.kv.v, desc});
  k.bytes = v.bytes = bytes;
  return {k, v, kv_dim, format, row, placed.n_ctx};
}

void check_indices(Encoder& encoder, const Node& node, std::string what, const int32_t* data, int64_t count,
                   int64_t limit) {
  encoder.check({what, data, count, limit}, [name = node.name, what, data, count, limit] {
    for (int64_t i = 0; i < count; ++i) {
      if (data[i] >= 0 && data[i] < limit) continue;
      throw Error(ErrorCode::bad_request,
                  fmt::format("running {}: {} {} of token {} is out of range, expected 0 to {}", name, what,
                              data[i], i, limit - 1));
    }
  });
}

}  // namespace minfer::metal
