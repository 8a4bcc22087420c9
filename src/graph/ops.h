#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "graph/kv_format.h"
#include "graph/tensor_desc.h"

/// The ops: plain payloads with full equality. Positions, cells and windows are data and arrive through Input
/// nodes; weights are named, and the executing backend resolves the name.
namespace minfer {

/// A weight by name: [rows][cols] in the file, cols fastest. A matmul maps `cols` inputs to `rows` outputs.
struct WeightRef {
  std::string name;
  DType type = DType::f32;
  int64_t cols = 0;
  int64_t rows = 1;
  bool operator==(const WeightRef&) const = default;
};

enum class InputKind : uint8_t { token_ids, positions, cells, window, tail_ids };

/// Which KV rows a query sees. causal: cells 0 to its position. ranges: `window` holds lo[tokens] then
/// hi[tokens], half-open. runs: `window` holds [tokens][4][2] pairs (cell, length), zero-padded, in the order
/// they are read.
enum class WindowKind : uint8_t { causal, ranges, runs };
inline constexpr int max_window_runs = 4;

enum class RopeStyle : uint8_t { split_half, interleaved };

/// theta_i(p) = p * scale * base^(-2i / head_dim) / factor_i, i < head_dim / 2. Pairs (i, i + head_dim/2) or
/// (2i, 2i+1).
struct RopeParams {
  RopeStyle style = RopeStyle::split_half;
  float base = 10000.0f;
  float scale = 1.0f;
  std::optional<WeightRef> factors;  ///< rope_freqs.weight, f32 [head_dim / 2]; 1 if absent
  bool operator==(const RopeParams&) const = default;
};

struct Input {
  InputKind kind;
  bool operator==(const Input&) const = default;
};
struct Add {
  bool operator==(const Add&) const = default;
};
struct Mul {
  bool operator==(const Mul&) const = default;
};
struct Silu {
  bool operator==(const Silu&) const = default;
};
struct SwiGlu {
  bool operator==(const SwiGlu&) const = default;
};  // (gate, up)
struct Scale {
  float factor;
  bool operator==(const Scale&) const = default;
};
struct Softmax {
  bool operator==(const Softmax&) const = default;
};  // over cols
struct RmsNorm {
  WeightRef weight;
  float eps;
  bool operator==(const RmsNorm&) const = default;
};
struct QkNorm {
  WeightRef weight;
  int64_t head_dim, n_heads;
  float eps;
  bool operator==(const QkNorm&) const = default;
};
struct MatMul {
  WeightRef weight;
  std::optional<WeightRef> bias;
  bool operator==(const MatMul&) const = default;
};
/// With a table: (ids) -> rows of the table as f32. Without: (x, ids) -> rows of x.
struct GetRows {
  std::optional<WeightRef> table;
  bool operator==(const GetRows&) const = default;
};
struct Rope {
  RopeParams rope;
  int64_t head_dim, n_heads;
  bool operator==(const Rope&) const = default;
};  // (x, positions)
/// (q, kv, positions[, window]); kv is the layer's KvLoad or KvStore node.
struct Attention {
  int layer;
  int64_t n_heads, n_kv_heads, head_dim;
  float scale;
  WindowKind window = WindowKind::causal;
  KvFormat format = KvFormat::f32;
  bool operator==(const Attention&) const = default;
};
struct KvStore {
  int layer;
  int64_t kv_dim;
  KvFormat format;
  bool operator==(const KvStore&) const = default;
};  // (k, v, cells)
struct KvLoad {
  int layer;
  int64_t kv_dim;
  KvFormat format;
  bool operator==(const KvLoad&) const = default;
};  // ()
struct View {
  int64_t offset;
  std::array<int64_t, 4> shape;
  bool operator==(const View&) const = default;
};  // elements
struct Reshape {
  std::array<int64_t, 4> shape;
  bool operator==(const Reshape&) const = default;
};
struct Permute {
  std::array<int, 4> dims;
  bool operator==(const Permute&) const = default;
};
/// Decode only (one token): the layer's q, k, v matmuls with biases, rope of q and k, store at `cells`.
/// (x, positions, cells) -> [n_heads*head_dim + 2*kv_dim, 1]: q, k, v; attention reads the leading q.
struct FusedQkv {
  int layer;
  MatMul q, k, v;
  RopeParams rope;
  int64_t n_heads, n_kv_heads, head_dim;
  KvFormat format;
  bool operator==(const FusedQkv&) const = default;
};
/// FusedQkv without biases, with the per-head norms of q and k before rope.
struct FusedQkvNorm {
  FusedQkv qkv;
  WeightRef q_norm, k_norm;
  float eps;
  bool operator==(const FusedQkvNorm&) const = default;
};
/// The epilogue alone: (q, k, v, positions, cells) -> roped q; k and v are biased, roped and stored.
struct QkvBiasRopeStore {
  int layer;
  std::optional<WeightRef> q_bias, k_bias, v_bias;
  RopeParams rope;
  int64_t n_heads, n_kv_heads, head_dim;
  KvFormat format;
  bool operator==(const QkvBiasRopeStore&) const = default;
};
/// Decode only: x -> silu(gate x) * up x in the first ffn_dim values of [2*ffn_dim, 1].
struct FusedFfn {
  WeightRef gate, up;
  bool operator==(const FusedFfn&) const = default;
};

using Op = std::variant<Input, Add, Mul, Silu, SwiGlu, Scale, Softmax, RmsNorm, QkNorm, MatMul, GetRows, Rope,
                        Attention, KvStore, KvLoad, View, Reshape, Permute, FusedQkv, FusedQkvNorm,
                        QkvBiasRopeStore, FusedFfn>;

}  // namespace minfer
