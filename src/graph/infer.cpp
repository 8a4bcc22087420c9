#include <fmt/format.h>

#include "base/error.h"
#include "graph/graph.h"

/// The shape rule of every op: what its sources must be, and what it makes. Checked once, when the graph is
/// built; kernels and dispatch check nothing.
namespace minfer {
namespace {

template <class... Args>
[[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(ErrorCode::bad_model, fmt::format(format, std::forward<Args>(args)...),
              "the tensors of this file do not belong together; convert the model again");
}

/// What a rule sees of its node.
struct Sources {
  const std::vector<TensorDesc>& in;
  std::string_view op;
  int64_t n_ctx;

  void expect_count(size_t low, size_t high) const {
    if (in.size() < low || in.size() > high)
      refuse("{}: {} sources, expected {} to {}", op, in.size(), low, high);
  }
  void expect_f32(size_t i) const {
    if (in[i].dtype != DType::f32) refuse("{}: source {} is {}, expected f32", op, i, to_string(in[i]));
  }
  void expect_i32(size_t i, int64_t count, std::string_view what) const {
    if (in[i].dtype != DType::i32 || in[i].elements() != count)
      refuse("{}: {} are {}, expected i32 [{}]", op, what, to_string(in[i]), count);
  }
  void expect_cols(size_t i, int64_t cols) const {
    if (in[i].cols() != cols) refuse("{}: source {} has {} columns, expected {}", op, i, in[i].cols(), cols);
  }
  void expect_vector(const WeightRef& w, int64_t length) const {
    if (w.type != DType::f32) refuse("{}: {} is {}, expected F32", op, w.name, info(w.type).name);
    if (w.cols * w.rows != length)
      refuse("{}: {} has {} values, the row has {}", op, w.name, w.cols * w.rows, length);
  }
  void expect_heads(int64_t n_heads, int64_t n_kv_heads, int64_t head_dim) const {
    if (head_dim <= 0 || n_heads <= 0 || n_kv_heads <= 0 || n_heads % n_kv_heads != 0)
      refuse("{}: {} heads of {} over {} KV heads; heads must be a multiple of KV heads", op, n_heads,
             head_dim, n_kv_heads);
  }
  void expect_rope(const RopeParams& rope, int64_t head_dim) const {
    if (head_dim % 2 != 0) refuse("{}: head width {} is odd", op, head_dim);
    if (rope.factors) expect_vector(*rope.factors, head_dim / 2);
  }
  TensorDesc kv_region(int64_t kv_dim, KvFormat format) const {
    if (n_ctx <= 0) refuse("{}: the context has {} cells", op, n_ctx);
    kv_row_bytes(format, kv_dim);  // refuses a width the format cannot hold
    return desc_f32(kv_dim, n_ctx);
  }
  TensorDesc binary() const {
    expect_count(2, 2);
    expect_f32(0);
    if (in[0] != in[1]) refuse("{}: {} and {} differ", op, to_string(in[0]), to_string(in[1]));
    return in[0];
  }
  TensorDesc unary() const {
    expect_count(1, 1);
    expect_f32(0);
    return in[0];
  }
};

TensorDesc rule(const Input&, const Sources&) {
  MINFER_CHECK(false, "inputs are described by their builder");
  return {};
}
TensorDesc rule(const Add&, const Sources& s) { return s.binary(); }
TensorDesc rule(const Mul&, const Sources& s) { return s.binary(); }
TensorDesc rule(const SwiGlu&, const Sources& s) { return s.binary(); }
TensorDesc rule(const Silu&, const Sources& s) { return s.unary(); }
TensorDesc rule(const Scale&, const Sources& s) { return s.unary(); }
TensorDesc rule(const Softmax&, const Sources& s) { return s.unary(); }

TensorDesc rule(const RmsNorm& op, const Sources& s) {
  const TensorDesc x = s.unary();
  s.expect_vector(op.weight, x.cols());
  return x;
}

TensorDesc rule(const QkNorm& op, const Sources& s) {
  const TensorDesc x = s.unary();
  s.expect_cols(0, op.n_heads * op.head_dim);
  s.expect_vector(op.weight, op.head_dim);
  return x;
}

TensorDesc rule(const MatMul& op, const Sources& s) {
  s.expect_count(1, 1);
  s.expect_f32(0);
  // The consumer of a fused arm reads its leading columns (leading_cols in verify.cpp); others match exactly.
  const bool leading = s.in[0].rows() == 1 && s.in[0].cols() == 2 * op.weight.cols;
  if (!leading && s.in[0].cols() != op.weight.cols)
    refuse("matmul: {} takes {} values, the row has {}", op.weight.name, op.weight.cols, s.in[0].cols());
  if (op.bias) s.expect_vector(*op.bias, op.weight.rows);
  return desc_f32(op.weight.rows, s.in[0].rows());
}

TensorDesc rule(const GetRows& op, const Sources& s) {
  if (op.table) {
    s.expect_count(1, 1);
    s.expect_i32(0, s.in[0].elements(), "ids");
    return desc_f32(op.table->cols, s.in[0].elements());
  }
  s.expect_count(2, 2);
  s.expect_f32(0);
  s.expect_i32(1, s.in[1].elements(), "row numbers");
  return desc_f32(s.in[0].cols(), s.in[1].elements());
}

TensorDesc rule(const Rope& op, const Sources& s) {
  s.expect_count(2, 2);
  s.expect_f32(0);
  s.expect_cols(0, op.n_heads * op.head_dim);
  s.expect_i32(1, s.in[0].rows(), "positions");
  s.expect_rope(op.rope, op.head_dim);
  return s.in[0];
}

TensorDesc rule(const Attention& op, const Sources& s) {
  const bool windowed = op.window != WindowKind::causal;
  s.expect_count(windowed ? 4 : 3, windowed ? 4 : 3);
  s.expect_f32(0);
  s.expect_heads(op.n_heads, op.n_kv_heads, op.head_dim);
  const int64_t q_dim = op.n_heads * op.head_dim, kv_dim = op.n_kv_heads * op.head_dim,
                tokens = s.in[0].rows();
  const bool leading = tokens == 1 && s.in[0].cols() == q_dim + 2 * kv_dim;
  if (!leading) s.expect_cols(0, q_dim);
  s.expect_cols(1, kv_dim);
  s.expect_i32(2, tokens, "positions");
  if (op.window == WindowKind::ranges) s.expect_i32(3, 2 * tokens, "windows");
  if (op.window == WindowKind::runs) s.expect_i32(3, tokens * max_window_runs * 2, "windows");
  return desc_f32(q_dim, tokens);
}

TensorDesc rule(const KvStore& op, const Sources& s) {
  s.expect_count(3, 3);
  for (size_t i : {0, 1}) {
    s.expect_f32(i);
    s.expect_cols(i, op.kv_dim);
  }
  s.expect_i32(2, s.in[0].rows(), "cells");
  return s.kv_region(op.kv_dim, op.format);
}

TensorDesc rule(const KvLoad& op, const Sources& s) {
  s.expect_count(0, 0);
  return s.kv_region(op.kv_dim, op.format);
}

TensorDesc same_elements(const Sources& s, const std::array<int64_t, 4>& shape) {
  const TensorDesc x = s.unary(), y{DType::f32, shape};
  if (x.elements() != y.elements()) refuse("{}: {} cannot become {}", s.op, to_string(x), to_string(y));
  return y;
}

TensorDesc rule(const Reshape& op, const Sources& s) { return same_elements(s, op.shape); }

TensorDesc rule(const View& op, const Sources& s) {
  const TensorDesc x = s.unary(), y{DType::f32, op.shape};
  if (op.offset < 0 || op.offset > x.elements() - y.elements())
    refuse("view: elements {}..{} of {}", op.offset, op.offset + y.elements(), to_string(x));
  return y;
}

TensorDesc rule(const Permute& op, const Sources& s) {
  TensorDesc x = s.unary(), y = x;
  unsigned seen = 0;
  for (int d = 0; d < 4; ++d) {
    const int from = op.dims[size_t(d)];
    if (from < 0 || from > 3 || (seen >> from & 1))
      refuse("permute: {} is no permutation of the four dimensions", fmt::join(op.dims, " "));
    seen |= 1u << from;
    y.shape[size_t(d)] = x.shape[size_t(from)];
  }
  return y;
}

void expect_one_token(const Sources& s, std::string_view op) {
  if (s.in[0].rows() != 1) refuse("{}: {} tokens; this fused arm takes exactly 1", op, s.in[0].rows());
}

TensorDesc qkv_rule(const FusedQkv& op, const Sources& s) {
  s.expect_count(3, 3);
  s.expect_f32(0);
  expect_one_token(s, s.op);
  s.expect_heads(op.n_heads, op.n_kv_heads, op.head_dim);
  s.expect_rope(op.rope, op.head_dim);
  const int64_t q_dim = op.n_heads * op.head_dim, kv_dim = op.n_kv_heads * op.head_dim;
  for (const MatMul* m : {&op.q, &op.k, &op.v}) {
    const int64_t rows = m == &op.q ? q_dim : kv_dim;
    if (m->weight.cols != s.in[0].cols() || m->weight.rows != rows)
      refuse("{}: {} maps {} to {}, expected {} to {}", s.op, m->weight.name, m->weight.cols, m->weight.rows,
             s.in[0].cols(), rows);
    if (m->bias) s.expect_vector(*m->bias, rows);
  }
  s.expect_i32(1, 1, "positions");
  s.expect_i32(2, 1, "cells");
  s.kv_region(kv_dim, op.format);
  return desc_f32(q_dim + 2 * kv_dim, 1);
}

TensorDesc rule(const FusedQkv& op, const Sources& s) { return qkv_rule(op, s); }

TensorDesc rule(const FusedQkvNorm& op, const Sources& s) {
  const TensorDesc out = qkv_rule(op.qkv, s);
  s.expect_vector(op.q_norm, op.qkv.head_dim);
  s.expect_vector(op.k_norm, op.qkv.head_dim);
  return out;
}

TensorDesc rule(const QkvBiasRopeStore& op, const Sources& s) {
  s.expect_count(5, 5);
  s.expect_heads(op.n_heads, op.n_kv_heads, op.head_dim);
  s.expect_rope(op.rope, op.head_dim);
  const int64_t kv_dim = op.n_kv_heads * op.head_dim, tokens = s.in[0].rows();
  for (size_t i : {0, 1, 2}) {
    s.expect_f32(i);
    s.expect_cols(i, i == 0 ? op.n_heads * op.head_dim : kv_dim);
  }
  if (op.q_bias) s.expect_vector(*op.q_bias, op.n_heads * op.head_dim);
  if (op.k_bias) s.expect_vector(*op.k_bias, kv_dim);
  if (op.v_bias) s.expect_vector(*op.v_bias, kv_dim);
  s.expect_i32(3, tokens, "positions");
  s.expect_i32(4, tokens, "cells");
  s.kv_region(kv_dim, op.format);
  return s.in[0];
}

TensorDesc rule(const FusedFfn& op, const Sources& s) {
  s.expect_count(1, 1);
  s.expect_f32(0);
  expect_one_token(s, s.op);
  for (const WeightRef* w : {&op.gate, &op.up})
    if (w->cols != s.in[0].cols() || w->rows != op.gate.rows)
      refuse("{}: {} maps {} to {}, expected {} to {}", s.op, w->name, w->cols, w->rows, s.in[0].cols(),
             op.gate.rows);
  return desc_f32(2 * op.gate.rows, 1);
}

}  // namespace

TensorDesc infer(const Op& op, const std::vector<TensorDesc>& sources, int64_t n_ctx) {
  const Sources s{sources, op_name(op), n_ctx};
  return std::visit([&](const auto& payload) { return rule(payload, s); }, op);
}

}  // namespace minfer
