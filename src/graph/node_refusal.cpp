#include "graph/node_refusal.h"

#include <fmt/format.h>

namespace minfer {

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

namespace {

constexpr int64_t most_head_dim = 256;

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

/// How many sources an op reads, and whether it can run at all.
struct Refusal {
  std::string operator()(const RmsNorm& op) const { return vector_refusal(op.weight); }
  std::string operator()(const QkNorm& op) const { return vector_refusal(op.weight); }
  std::string operator()(const MatMul& op) const { return matmul_refusal(op); }
  std::string operator()(const GetRows& op) const {
    return op.table ? weight_refusal(*op.table) : std::string();
  }
  std::string operator()(const Rope& op) const { return rope_refusal(op.rope, op.head_dim); }
  std::string operator()(const Attention& op) const {
    return first_of({heads_refusal(op.n_heads, op.n_kv_heads, op.head_dim),
                     kv_refusal(op.format, op.n_kv_heads * op.head_dim)});
  }
  std::string operator()(const KvStore& op) const { return kv_refusal(op.format, op.kv_dim); }
  std::string operator()(const KvLoad& op) const { return kv_refusal(op.format, op.kv_dim); }
  std::string operator()(const FusedQkv& op) const { return fused_qkv_refusal(op); }
  std::string operator()(const FusedQkvNorm& op) const {
    return first_of({fused_qkv_refusal(op.qkv), vector_refusal(op.q_norm), vector_refusal(op.k_norm)});
  }
  std::string operator()(const QkvBiasRopeStore& op) const {
    return first_of({rope_refusal(op.rope, op.head_dim),
                     heads_refusal(op.n_heads, op.n_kv_heads, op.head_dim),
                     kv_refusal(op.format, op.n_kv_heads * op.head_dim)});
  }
  std::string operator()(const FusedFfn& op) const {
    return first_of({weight_refusal(op.gate), weight_refusal(op.up)});
  }
  template <class Plain>
  std::string operator()(const Plain&) const {
    return {};
  }
};

}  // namespace

std::string node_refusal(const Node& node) { return std::visit(Refusal{}, node.op); }

std::string matmul_shape_refusal(const MatMul& op, const TensorDesc& source, const TensorDesc& output) {
  const WeightRef& weight = op.weight;
  const int64_t tokens = source.rows();
  const bool wide_enough = source.cols() == weight.cols || (tokens == 1 && source.cols() > weight.cols);
  if (wide_enough && output.cols() == weight.rows && output.rows() == tokens) return {};
  return fmt::format("the source is {}, the output {}, the weight {} [{}, {}]", to_string(source),
                     to_string(output), weight.name, weight.cols, weight.rows);
}

}  // namespace minfer
