#include <doctest/doctest.h>

#include "base/error.h"
#include "variant.h"

using namespace minfer;
using minfer::test::Variant;

/// Each file differs from a good one in one thing; the message names it, what was found and what was
/// expected.
namespace {

void check_refused(const Variant& variant, ErrorCode code, const std::vector<std::string>& named) {
  try {
    variant.load();
    FAIL("accepted");
  } catch (const Error& e) {
    CHECK(e.code == code);
    const std::string message = std::string(e.what()) + " " + e.hint;
    for (const std::string& text : named) CHECK_MESSAGE(message.find(text) != std::string::npos, message);
  }
}

Variant llama() { return Variant("llama-f16"); }
Variant qwen2() { return Variant("qwen2-f32"); }

std::vector<float> ones(size_t n) { return std::vector<float>(n, 1.0f); }

}  // namespace

TEST_CASE("the unchanged files load") {
  for (const char* name : {"llama-f16", "qwen2-f32", "qwen3-f16"}) CHECK_NOTHROW(Variant(name).load());
}

TEST_CASE("an unknown architecture is refused with the known ones") {
  check_refused(llama().set("general.architecture", "mamba"), ErrorCode::unsupported,
                {"mamba", "qwen2", "qwen3", "llama"});
  check_refused(llama().drop("general.architecture"), ErrorCode::bad_model, {"general.architecture"});
}

TEST_CASE("missing tensors are refused by name") {
  for (const char* name : {"blk.1.ffn_down.weight", "output_norm.weight", "token_embd.weight"})
    check_refused(llama().drop(name), ErrorCode::bad_model, {name, "missing"});
  check_refused(qwen2().drop("blk.0.attn_k.bias"), ErrorCode::bad_model, {"blk.0.attn_k.bias", "missing"});
  check_refused(Variant("qwen3-f16").drop("blk.1.attn_q_norm.weight"), ErrorCode::bad_model,
                {"blk.1.attn_q_norm.weight", "missing"});
}

TEST_CASE("wrong shapes are refused with both shapes") {
  check_refused(qwen2().floats("blk.0.attn_k.weight", {256, 64}, ones(256 * 64)), ErrorCode::bad_model,
                {"blk.0.attn_k.weight", "[256, 64]", "[256, 128]"});
  check_refused(qwen2().floats("output_norm.weight", {128}, ones(128)), ErrorCode::bad_model,
                {"output_norm.weight", "[128]", "[256]"});
  check_refused(llama().floats("rope_freqs.weight", {16}, ones(16)), ErrorCode::bad_model,
                {"rope_freqs.weight", "[16]", "[32]"});
  check_refused(qwen2().drop("qwen2.attention.head_count_kv"), ErrorCode::bad_model,
                {"blk.0.attn_k.weight", "[256, 128]", "[256, 256]"});
}

TEST_CASE("norms and biases must be F32") {
  check_refused(llama().tensor("blk.0.attn_norm.weight", DType::f16, {256}, std::vector<std::byte>(512)),
                ErrorCode::bad_model, {"blk.0.attn_norm.weight", "F16", "F32"});
  check_refused(qwen2().tensor("blk.1.attn_q.bias", DType::bf16, {256}, std::vector<std::byte>(512)),
                ErrorCode::bad_model, {"blk.1.attn_q.bias", "BF16", "F32"});
}

TEST_CASE("rotary embeddings that this build would compute wrongly are refused") {
  check_refused(llama().set("llama.rope.scaling.type", "yarn"), ErrorCode::unsupported,
                {"rope.scaling.type", "yarn", "linear"});
  check_refused(llama().set("llama.rope.dimension_count", uint32_t(32)), ErrorCode::unsupported,
                {"rope.dimension_count", "32", "64"});
  check_refused(llama().set("llama.rope.scaling.type", "linear").set("llama.rope.scaling.factor", 0.0f),
                ErrorCode::bad_model, {"rope.scaling.factor"});
}

TEST_CASE("numbers that cannot describe a model are refused by key") {
  check_refused(llama().drop("llama.attention.layer_norm_rms_epsilon"), ErrorCode::bad_model,
                {"layer_norm_rms_epsilon", "missing"});
  check_refused(llama().set("llama.attention.value_length", uint32_t(32)), ErrorCode::unsupported,
                {"value_length", "32", "64"});
  check_refused(llama().set("llama.attention.head_count_kv", uint32_t(3)), ErrorCode::bad_model,
                {"head_count_kv", "3", "4"});
  check_refused(llama().set("llama.attention.head_count_kv", std::vector<int32_t>{1, 2}),
                ErrorCode::unsupported, {"head_count_kv", "1", "2"});
  check_refused(llama().set("llama.attention.head_count", uint32_t(0)), ErrorCode::bad_model,
                {"head_count", "0"});
  check_refused(llama().set("llama.block_count", uint32_t(4000000000u)), ErrorCode::bad_model,
                {"block_count", "4000000000"});
  check_refused(llama().drop("llama.feed_forward_length"), ErrorCode::bad_model,
                {"feed_forward_length", "missing"});
}

TEST_CASE("a vocabulary longer than the embedding is refused with both numbers") {
  check_refused(qwen2().floats("token_embd.weight", {256, 383}, ones(256 * 383)), ErrorCode::bad_model,
                {"384", "383", "token_embd.weight"});
}
