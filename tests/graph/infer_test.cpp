#include <doctest/doctest.h>

#include "base/error.h"
#include "graph/graph.h"

using namespace minfer;

namespace {

WeightRef vec(int64_t length, DType type = DType::f32) { return {"w", type, length, 1}; }
WeightRef mat(int64_t cols, int64_t rows, DType type = DType::f32) { return {"w", type, cols, rows}; }

std::string refusal(const Op& op, const std::vector<TensorDesc>& sources) {
  try {
    infer(op, sources, 16);
  } catch (const Error& error) {
    CHECK(error.code == ErrorCode::bad_model);
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("shapes: what each op makes of its sources") {
  const TensorDesc x = desc_f32(32, 3), ids = desc_i32(3);
  CHECK(infer(Add{}, {x, x}, 16) == x);
  CHECK(infer(Scale{2}, {x}, 16) == x);
  CHECK(infer(Softmax{}, {x}, 16) == x);
  CHECK(infer(RmsNorm{vec(32), 1e-6f}, {x}, 16) == x);
  CHECK(infer(QkNorm{vec(8), 8, 4, 1e-6f}, {x}, 16) == x);
  CHECK(infer(MatMul{mat(32, 7), vec(7)}, {x}, 16) == desc_f32(7, 3));
  CHECK(infer(GetRows{mat(32, 100, DType::q8_0)}, {ids}, 16) == desc_f32(32, 3));
  CHECK(infer(GetRows{}, {x, desc_i32(2)}, 16) == desc_f32(32, 2));
  CHECK(infer(Rope{{}, 8, 4}, {x, ids}, 16) == x);
  CHECK(infer(KvStore{0, 32, KvFormat::f32}, {x, x, ids}, 16) == desc_f32(32, 16));
  CHECK(infer(KvLoad{0, 32, KvFormat::q8_0}, {}, 16) == desc_f32(32, 16));
  CHECK(infer(View{4, {8, 2, 1, 1}}, {x}, 16) == desc_f32(8, 2));
  CHECK(infer(Reshape{{8, 4, 3, 1}}, {x}, 16).shape == std::array<int64_t, 4>{8, 4, 3, 1});
  CHECK(infer(Permute{{1, 0, 2, 3}}, {x}, 16) == desc_f32(3, 32));
  const FusedQkv qkv{0, {mat(32, 32), {}}, {mat(32, 16), {}}, {mat(32, 16), {}}, {}, 4, 2, 8, KvFormat::f32};
  const TensorDesc one = desc_f32(32, 1), id = desc_i32(1);
  CHECK(infer(qkv, {one, id, id}, 16) == desc_f32(64, 1));
  CHECK(infer(FusedQkvNorm{qkv, vec(8), vec(8), 1e-6f}, {one, id, id}, 16) == desc_f32(64, 1));
  CHECK(infer(FusedFfn{mat(32, 50), mat(32, 50)}, {one}, 16) == desc_f32(100, 1));
  const TensorDesc kv = desc_f32(16, 3);
  CHECK(infer(QkvBiasRopeStore{0, {}, {}, {}, {}, 4, 2, 8, KvFormat::f32}, {x, kv, kv, ids, ids}, 16) == x);
}

TEST_CASE("attention: heads, widths and the three windows") {
  const TensorDesc q = desc_f32(32, 3), kv = desc_f32(16, 16), positions = desc_i32(3);
  Attention op{0, 4, 2, 8, 0.35f};
  CHECK(infer(op, {q, kv, positions}, 16) == q);
  op.window = WindowKind::ranges;
  CHECK(infer(op, {q, kv, positions, desc_i32(6)}, 16) == q);
  CHECK(refusal(op, {q, kv, positions, desc_i32(24)}) ==
        "attention: window of ranges is i32 [24, 1], expected i32 with 6 elements");
  CHECK(refusal(op, {q, kv, positions}) == "attention: it has 3 sources, expected 4");
  op.window = WindowKind::runs;
  CHECK(infer(op, {q, kv, positions, desc_i32(24)}, 16) == q);
  op.window = WindowKind::causal;
  op.n_kv_heads = 3;
  CHECK(refusal(op, {q, kv, positions}) == "attention: n_heads is 4, expected a multiple of 3");
  op.n_kv_heads = 1;
  CHECK(refusal(op, {q, kv, positions}) == "attention: kv is f32 [16, 16], expected f32 [8, 16]");
}

TEST_CASE("refusals name the op, what was found and what was expected") {
  const TensorDesc x = desc_f32(32, 3), ids = desc_i32(3);
  CHECK(refusal(Add{}, {x, desc_f32(32, 2)}) == "add: source 1 is f32 [32, 2], expected f32 [32, 3]");
  CHECK(refusal(RmsNorm{vec(30), 1e-6f}, {x}) == "rms_norm: weight w has 30 values, expected 32");
  CHECK(refusal(RmsNorm{vec(32, DType::f16), 1e-6f}, {x}) == "rms_norm: weight w is F16, expected F32");
  CHECK(refusal(QkNorm{vec(8), 8, 3, 1e-6f}, {x}) == "qk_norm: x's row has 32 values, expected 24");
  CHECK(refusal(MatMul{mat(64, 7), {}}, {x}) == "matmul: weight w has rows of 64, expected 32");
  CHECK(refusal(MatMul{mat(32, 7), vec(8)}, {x}) == "matmul: bias w has 8 values, expected 7");
  CHECK(refusal(MatMul{mat(32, 7, DType::q4_k), {}}, {x}) ==
        "matmul: weight w is Q4_K with rows of 32, expected a multiple of 256");
  CHECK(refusal(GetRows{mat(32, 9)}, {x}) == "get_rows: ids is f32 [32, 3], expected i32 with 96 elements");
  CHECK(refusal(Rope{{}, 8, 4}, {x, desc_i32(2)}) ==
        "rope: positions is i32 [2, 1], expected i32 with 3 elements");
  CHECK(refusal(Rope{{}, 7, 4}, {x, ids}) == "rope: head_dim is 7, expected a multiple of 2");
  CHECK(refusal(KvStore{0, 16, KvFormat::f32}, {x, x, ids}) ==
        "kv_store: k is f32 [32, 3], expected f32 [16, 3]");
  CHECK(refusal(FusedFfn{mat(32, 8), mat(32, 8)}, {x}) ==
        "fused_ffn: x is f32 [32, 3], expected f32 [32, 1]");
  CHECK(refusal(Permute{{0, 0, 2, 3}}, {x}) ==
        "permute: found dims that name one twice, expected a permutation of 0 to 3");
  CHECK(refusal(View{90, {8, 1, 1, 1}}, {x}) ==
        "view: found a part that ends outside x, expected one inside its f32 [32, 3]");
}

TEST_CASE("the builder names the node") {
  GraphBuilder b(16);
  const NodeId ids = b.input(InputKind::token_ids, 1);
  const NodeId x = b.add("embedding", GetRows{mat(32, 9)}, {ids});
  CHECK_THROWS_WITH_AS(b.add("blk.3.attn_q", MatMul{mat(64, 7), {}}, {x}),
                       "building node 2 (blk.3.attn_q): matmul: weight w has rows of 64, expected 32", Error);
}

TEST_CASE("KV formats: names and row bytes") {
  CHECK(kv_row_bytes(KvFormat::f32, 96) == 384);
  CHECK(kv_row_bytes(KvFormat::f16, 96) == 192);
  CHECK(kv_row_bytes(KvFormat::q8_0, 96) == 104);  // 3 blocks of 34, padded by 2
  CHECK(kv_row_bytes(KvFormat::q8_0, 64) == 68);
  CHECK_THROWS_AS(kv_row_bytes(KvFormat::q8_0, 40), Error);
  for (KvFormat format : {KvFormat::f32, KvFormat::f16, KvFormat::q8_0})
    CHECK(kv_format_from_name(name(format)) == format);
  CHECK_THROWS_WITH_AS(kv_format_from_name("F16"), "KV format 'F16': expected f32, f16 or q8_0", Error);
  CHECK(to_string(desc_f32(576, 12)) == "f32 [576, 12]");
  CHECK(to_string(TensorDesc{DType::f32, {2, 3, 4, 1}}) == "f32 [2, 3, 4]");
}
