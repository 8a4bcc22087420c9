#include <fmt/format.h>

#include "backends/cpu/ops/ops.h"
#include "graph/node_refusal.h"

namespace minfer::cpu {
namespace {

Values values(const Node& node, const Operand& operand, std::string_view what) {
  if (operand.desc.dtype != DType::f32) {
    refuse(node, ErrorCode::unsupported,
           fmt::format("{} is {}, expected f32", what, to_string(operand.desc)));
  }
  if (operand.buffer->bytes() < operand.desc.bytes()) {
    refuse(node, ErrorCode::unsupported,
           fmt::format("{} is {} in a buffer of {} bytes", what, to_string(operand.desc),
                       operand.buffer->bytes()));
  }
  return {reinterpret_cast<float*>(operand.buffer->host()), operand.desc.cols(), operand.desc.rows()};
}

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
  void operator()(const Permute&) const { encode_copy(encoder, placed); }
  void operator()(const FusedQkv&) const { encode_fused_qkv(encoder, placed); }
  void operator()(const FusedQkvNorm&) const { encode_fused_qkv(encoder, placed); }
  void operator()(const QkvBiasRopeStore&) const { encode_qkv_bias_rope_store(encoder, placed); }
  void operator()(const FusedFfn&) const { encode_fused_ffn(encoder, placed); }
  template <class Elementwise>
  void operator()(const Elementwise&) const {
    encode_elementwise(encoder, placed);
  }
};

}  // namespace

std::string refusal(const Node& node) { return node_refusal(node); }

void encode_node(Encoder& encoder, const PlacedNode& placed) {
  const std::string why = refusal(*placed.node);
  if (!why.empty()) refuse(*placed.node, ErrorCode::unsupported, why);
  std::visit(Encode{encoder, placed}, placed.node->op);
  if (placed.capture != nullptr) encode_capture(encoder, placed);
}

Values source(const PlacedNode& placed, size_t index) {
  MINFER_CHECK(index < placed.sources.size(), "a placed node has all its sources");
  return values(*placed.node, placed.sources[index], fmt::format("source {}", index));
}

Values output(const PlacedNode& placed) { return values(*placed.node, placed.output, "the output"); }

void check_indices(Encoder& encoder, const Node& node, std::string what, const int32_t* data, int64_t count,
                   int64_t limit) {
  encoder.check({what, data, count, limit}, [name = node.name, what, data, count, limit] {
    for (int64_t i = 0; i < count; ++i) {
      if (data[i] >= 0 && data[i] < limit) continue;
      throw Error(ErrorCode::bad_request, fmt::format("running {}: {} {} of token {} is out of range, "
                                                      "expected 0 to {}",
                                                      name, what, data[i], i, limit - 1));
    }
  });
}

}  // namespace minfer::cpu
