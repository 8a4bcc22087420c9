#include <fmt/format.h>

#include "base/error.h"
#include "graph/graph.h"

/// Names of ops, formats and shapes, as messages, dumps and kernels spell them.
namespace minfer {

std::string_view op_name(const Op& op) {
  constexpr std::string_view names[] = {
      "input",    "add",     "mul",     "silu",     "swiglu",    "scale",          "softmax",
      "rms_norm", "qk_norm", "matmul",  "get_rows", "rope",      "attention",      "kv_store",
      "kv_load",  "view",    "reshape", "permute",  "fused_qkv", "fused_qkv_norm", "qkv_bias_rope_store",
      "fused_ffn"};
  static_assert(std::size(names) == std::variant_size_v<Op>);
  return names[op.index()];
}

std::string to_string(const TensorDesc& desc) {
  int dims = 4;
  while (dims > 1 && desc.shape[size_t(dims - 1)] == 1) --dims;
  const std::string_view type = desc.dtype == DType::f32   ? "f32"
                                : desc.dtype == DType::i32 ? "i32"
                                                           : info(desc.dtype).name;
  return fmt::format("{} [{}]", type, fmt::join(desc.shape.begin(), desc.shape.begin() + dims, ", "));
}

std::string_view name(KvFormat format) {
  constexpr std::string_view names[] = {"f32", "f16", "q8_0"};
  return names[size_t(format)];
}

KvFormat kv_format_from_name(std::string_view text) {
  for (KvFormat format : {KvFormat::f32, KvFormat::f16, KvFormat::q8_0})
    if (name(format) == text) return format;
  throw Error(ErrorCode::bad_request, fmt::format("no KV cache format `{}`", text), "use f32, f16 or q8_0");
}

size_t kv_row_bytes(KvFormat format, int64_t kv_dim) {
  switch (format) {
    case KvFormat::f32:
      return size_t(kv_dim) * 4;
    case KvFormat::f16:
      return size_t(kv_dim) * 2;
    case KvFormat::q8_0:
      break;
  }
  if (kv_dim % 32 != 0)
    throw Error(ErrorCode::unsupported,
                fmt::format("KV cache q8_0: rows of {} values are no multiple of 32", kv_dim),
                "use --kv f16");
  return (row_bytes(DType::q8_0, kv_dim) + 3) / 4 * 4;
}

}  // namespace minfer
