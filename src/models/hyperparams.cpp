#include "models/hyperparams.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "base/error.h"

namespace minfer {
namespace {

/// Reads `<architecture>.NAME` keys; every message names file, key, value found and value expected.
class Keys {
 public:
  Keys(const gguf::File& file, std::string architecture)
      : file_(file), prefix_(std::move(architecture) + ".") {}

  std::string key(std::string_view name) const { return prefix_ + std::string(name); }

  [[noreturn]] void refuse(std::string_view name, const std::string& what,
                           ErrorCode code = ErrorCode::bad_model) const {
    throw Error(code, fmt::format("{}: key `{}` {}", file_.path(), key(name), what),
                "the file needs another converter or engine");
  }

  int64_t required_int(std::string_view name, int64_t low, int64_t high) const {
    const auto value = file_.get_int(key(name));
    if (!value) refuse(name, "is missing");
    return in_range(name, *value, low, high);
  }

  int64_t int_or(std::string_view name, int64_t fallback, int64_t low, int64_t high) const {
    return in_range(name, file_.get_int(key(name)).value_or(fallback), low, high);
  }

  /// An integer, or an array of equal integers (one a layer).
  int64_t uniform_int(std::string_view name, int64_t low, int64_t high) const {
    if (!file_.find(key(name))) refuse(name, "is missing");
    return uniform_int_or(name, 0, low, high);
  }

  int64_t uniform_int_or(std::string_view name, int64_t fallback, int64_t low, int64_t high) const {
    const gguf::Value* value = file_.find(key(name));
    if (!value || value->type != gguf::ValueType::array) return int_or(name, fallback, low, high);
    const auto values = *file_.get_ints(key(name));
    if (values.empty()) refuse(name, "is an empty array");
    for (int64_t v : values)
      if (v != values[0])
        refuse(name, fmt::format("differs between layers ({} and {})", values[0], v), ErrorCode::unsupported);
    return in_range(name, values[0], low, high);
  }

  double positive_float_or(std::string_view name, std::optional<double> fallback) const {
    const auto found = file_.get_float(key(name));
    if (!found && !fallback) refuse(name, "is missing");
    const double value = found.value_or(fallback.value_or(0));
    if (!(value > 0) || !std::isfinite(float(value)))
      refuse(name, fmt::format("is {}, expected a positive number", value));
    return value;
  }

 private:
  int64_t in_range(std::string_view name, int64_t value, int64_t low, int64_t high) const {
    if (value < low || value > high) refuse(name, fmt::format("is {}, expected {} to {}", value, low, high));
    return value;
  }

  const gguf::File& file_;
  std::string prefix_;
};

/// Positions are multiplied by the result. Only no scaling and linear scaling are known; others change the
/// angles in ways that would be silently wrong.
float rope_scale(const gguf::File& file, const Keys& keys) {
  const auto type = file.get_string(keys.key("rope.scaling.type"));
  if (type && *type != "none" && *type != "linear")
    keys.refuse("rope.scaling.type", fmt::format("is `{}`; this build knows none and linear", *type),
                ErrorCode::unsupported);
  if (type && *type == "none") return 1.0f;
  const double factor =
      keys.positive_float_or("rope.scaling.factor", keys.positive_float_or("rope.scale_linear", 1.0));
  if (!type && factor != 1.0 && !file.find(keys.key("rope.scale_linear")))
    keys.refuse("rope.scaling.type", fmt::format("is missing beside a factor of {}", factor));
  return float(1.0 / factor);
}

}  // namespace

Hyperparams read_hyperparams(const gguf::File& file) {
  constexpr int64_t max_extent = int64_t(1)
                                 << 24;  // far above any published width; keeps products inside i64
  const auto name = file.get_string("general.architecture");
  if (!name)
    throw Error(ErrorCode::bad_model, fmt::format("{}: key `general.architecture` is missing", file.path()),
                "this GGUF file holds no language model");
  Hyperparams h;
  h.architecture = *name;
  architecture(h.architecture);  // refuses an unknown one before its keys are looked at
  const Keys keys(file, h.architecture);
  h.dim = keys.required_int("embedding_length", 1, max_extent);
  h.n_layers = keys.required_int("block_count", 1, 4096);
  h.ffn_dim = keys.uniform_int("feed_forward_length", 1, max_extent);
  h.n_heads = keys.uniform_int("attention.head_count", 1, 65536);
  h.n_kv_heads = keys.uniform_int_or("attention.head_count_kv", h.n_heads, 1, 65536);
  if (h.n_heads % h.n_kv_heads != 0)
    keys.refuse("attention.head_count_kv",
                fmt::format("is {}, which does not divide {} heads", h.n_kv_heads, h.n_heads));
  if (!file.find(keys.key("attention.key_length")) && h.dim % h.n_heads != 0)
    keys.refuse("attention.head_count",
                fmt::format("is {}, which does not divide the width {}", h.n_heads, h.dim));
  h.head_dim = keys.int_or("attention.key_length", h.dim / h.n_heads, 2, 4096);
  if (h.head_dim % 2 != 0)
    keys.refuse("attention.key_length", fmt::format("is {}, expected an even number", h.head_dim));
  const int64_t value_length = keys.int_or("attention.value_length", h.head_dim, 1, 4096);
  if (value_length != h.head_dim)
    keys.refuse("attention.value_length",
                fmt::format("is {}, expected the key length {}", value_length, h.head_dim),
                ErrorCode::unsupported);
  const int64_t rope_dim = keys.int_or("rope.dimension_count", h.head_dim, 0, 4096);
  if (rope_dim != h.head_dim)
    keys.refuse("rope.dimension_count",
                fmt::format("is {}; only the whole head width {} is supported", rope_dim, h.head_dim),
                ErrorCode::unsupported);
  h.context_length = keys.int_or("context_length", 32768, 1, std::numeric_limits<int32_t>::max());
  h.norm_eps = float(keys.positive_float_or("attention.layer_norm_rms_epsilon", std::nullopt));
  h.rope_base = float(keys.positive_float_or("rope.freq_base", 10000.0));
  h.rope_scale = rope_scale(file, keys);
  const gguf::TensorInfo* embedding = file.find_tensor("token_embd.weight");
  if (!embedding)
    throw Error(ErrorCode::bad_model, fmt::format("{}: tensor `token_embd.weight` is missing", file.path()),
                "this file holds a vocabulary or a part of a model, not a whole model");
  h.vocab = embedding->rows();
  return h;
}

}  // namespace minfer
