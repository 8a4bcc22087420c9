#include <fmt/format.h>

#include "backends/metal/ops/ops.h"

/// Which nodes this device runs, and which file encodes them.
namespace minfer::metal {
namespace {

constexpr int64_t most_head_dim = 256;

std::string weight_refusal(const WeightRef& ref) {
  if (ref.name.empty()) return "it names no weight, and needs one";
  if (ref.type == DType::i32) return fmt::format("weight {} is I32: no kernel multiplies it", ref.name);
  const int64_t block = info(ref.type).block_elements;
  if (ref.cols <= 0 || ref.rows <= 0 || ref.cols % block != 0) {
    return fmt::format("weight {} is {} [{}, {}], expected rows of whole blocks of {}", ref.name,
                       info(ref.type).name, ref.cols, ref.rows, block);
  }
  return {};
}

std::string vector_refusal(const WeightRef& ref) {
  std::string why = weight_refusal(ref);
  if (why.empty() && ref.type != DType::f32) {
    why = fmt::format("{} is {}, expected F32", ref.name, info(ref.type).name);
  }
  return why;
}

std::string heads_refusal(int64_t n_heads, int64_t n_kv_heads, int64_t head_dim) {
  if (n_heads <= 0 || n_kv_heads <= 0 || n_heads % n_kv_heads != 0) {
    return fmt::format("{} heads over {} KV heads, expected a multiple", n_heads, n_kv_heads);
  }
  if (head_dim <= 0 || head_dim > most_head_dim || head_dim % 4 != 0) {
    return fmt::format("heads of {}, expected a multiple of 4 up to {}", head_dim, most_head_dim);
  }
  return {};
}

std::string kv_refusal(KvFormat format, int64_t kv_dim) {
  if (kv_dim <= 0 || (format == KvFormat::q8_0 && kv_dim % 32 != 0)) {
    return fmt::format("{} KV rows of {} values, expected a multiple of 32", name(format), kv_dim);
  }
  return {};
}

std::string rope_refusal(const RopeParams& rope, int64_t head_dim) {
  if (head_dim <= 0 || head_dim % 2 != 0) return fmt::format("heads of {}, expected an even width", head_dim);
  return rope.factors ? vector_refusal(*rope.factors) : std::string();
}

std::string first_of(std::initializer_list<std::string> reasons) {
  for (const std::string& why : reasons) {
    if (!why.empty()) return why;
  }
  return {};
}

std::string matmul_refusal(const MatMul& op) {
  return first_of({weight_refusal(op.weight), op.bias ? vector_refusal(*op.bias) : std::string()});
}

std::string fused_qkv_refusal(const FusedQkv& op) {
  return first_of({matmul_refusal(op.q), matmul_refusal(op.k), matmul_refusal(op.v),
                   rope_refusal(op.rope, op.head_dim), heads_refusal(op.n_heads, op.n_kv_heads, op.head_dim),
                   kv_refusal(op.format, op.n_kv_heads * op.head_dim)});
}

struct Refusal {
  std::string operator()(const RmsNorm& op) const { return vector_refusal(op.weight); }
  std::string operator()(const QkNorm& op) const { return vector_refusal(op.weight); }
  std::string operator()(const MatMul& op) const { return matmul_refusal(op); }
  std::string operator()(const GetRows& op) const {
    return op.table ? weight_refusal(*op.table) : std::string();
  }
  std::string operator()(const Rope& op) const { return rope_refusal(op.rope, op.head_dim); }
  std::string operator()(const Attention& op) const {
    if (op.window != WindowKind::causal) return "windows of several sequences have no kernel here yet";
    return first_of({heads_refusal(op.n_heads, op.n_kv_heads, op.head_dim),
                     kv_refusal(op.format, op.n_kv_heads * op.head_dim)});
  }
  std::string operator()(const KvStore& op) const { return kv_refusal(op.format, op.kv_dim); }
  std::string operator()(const KvLoad& op) const { return kv_refusal(op.format, op.kv_dim); }
  std::string operator()(const FusedQkv& op) const { return fused_qkv_refusal(op); }
  std::string operator()(const FusedQkvNorm& op) const {
    return first_of({fused_qkv_refusal(op.qkv), vector_refusal(op.q_norm), vector_refusal(op.k_norm)});
  }
  std::string operator()(const FusedFfn& op) const {
    std::string types;
    if (op.gate.type != op.up.type) {
      types = fmt::format("weights of {} and {}, expected one type", info(op.gate.type).name, info(op.up.type).name);
    }
    return first_of({weight_refusal(op.gate), weight_refusal(op.up), types});
  }
  std::string operator()(const QkvBiasRopeStore&) const { return "it has no kernel here"; }
  std::string operator()(const Scale&) const { return "it has no kernel here"; }
  std::string operator()(const Softmax&) const { return "it has no kernel here"; }
  std::string operator()(const Permute&) const { return "it has no kernel here"; }
  std::string operator()(const Input&) const { return {}; }
  template <class Elementwise>
  std::string operator()(const Elementwise&) const {
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

std::string refusal(const Node& node) { return std::visit(Refusal{}, node.op); }

void encode_node(Encoder& encoder, const PlacedNode& placed) {
  const std::string why = refusal(*placed.node);
  if (!why.empty()) refuse(*placed.node, ErrorCode::unsupported, why);
  std::visit(Encode{encoder, placed}, placed.node->op);
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
