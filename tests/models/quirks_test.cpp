#include <doctest/doctest.h>

#include <cmath>

#include "engine/generate.h"
#include "golden/golden.h"
#include "tolerance.h"
#include "variant.h"

using namespace minfer;
using minfer::test::Variant;

/// Files that are unusual and right: each must mean what its plain twin means.
namespace {

const std::vector<Token> prompt = {5, 17, 42, 99, 250, 3, 8, 130, 77, 12, 200, 64};

std::vector<float> logits(std::shared_ptr<const Model> model) {
  return golden::all_logits(*Session::create(std::move(model), golden::options()), prompt);
}
std::vector<float> plain(const std::string& name) { return logits(golden::model(name)); }

std::vector<std::byte> bytes_of(const gguf::TensorInfo& t) { return {t.data.begin(), t.data.end()}; }

}  // namespace

TEST_CASE("without output.weight the embedding is the head") {
  Variant tied("llama-f16"), copied("llama-f16");
  const gguf::TensorInfo& embedding = *tied.original().find_tensor("token_embd.weight");
  tied.drop("output.weight");
  copied.tensor("output.weight", embedding.type, embedding.shape, bytes_of(embedding));
  const std::vector<float> a = logits(tied.load());
  CHECK(a == logits(copied.load()));
  CHECK(a != plain("llama-f16"));
}

TEST_CASE("output.bias is added to every logit") {
  std::vector<float> bias(384);
  for (size_t i = 0; i < bias.size(); ++i) bias[i] = float(i) * 0.25f - 40;
  const std::vector<float> with = logits(Variant("qwen2-f32").floats("output.bias", {384}, bias).load());
  const std::vector<float> without = plain("qwen2-f32");
  for (size_t i = 0; i < with.size(); ++i)  // one f32 addition
    REQUIRE(std::fabs(with[i] - (double(without[i]) + bias[i % 384])) <= tol::u * std::fabs(with[i]));
}

TEST_CASE("head counts: absent means as many as query heads, an array must be equal everywhere") {
  Variant v("qwen2-f32");
  CHECK(logits(v.set("qwen2.attention.head_count_kv", std::vector<int32_t>{2, 2}).load()) ==
        plain("qwen2-f32"));
  // With four KV heads stated or left out, the K and V weights of two are refused alike; repeated rows fit.
  Variant full("qwen2-f32");
  for (const std::string layer : {"blk.0.", "blk.1."})
    for (const std::string kv : {"attn_k", "attn_v"})
      for (const std::string part : {".weight", ".bias"}) {
        // Heads 0, 0, 1, 1: query heads 0 and 1 shared KV head 0.
        const gguf::TensorInfo& t = *full.original().find_tensor(layer + kv + part);
        const size_t half = t.data.size() / 2;
        std::vector<std::byte> data;
        for (const size_t head : {0, 0, 1, 1})
          data.insert(data.end(), t.data.begin() + long(head * half),
                      t.data.begin() + long((head + 1) * half));
        std::vector<int64_t> shape = t.shape;
        shape.back() *= 2;
        full.tensor(t.name, t.type, shape, data);
      }
  full.drop("qwen2.attention.head_count_kv");
  const auto model = full.load();
  CHECK(model->hyperparams().n_kv_heads == 4);
  CHECK(logits(model) == plain("qwen2-f32"));
}

TEST_CASE("key_length: absent means width over heads; Qwen3's is its own") {
  Variant v("qwen2-f32");
  v.drop("qwen2.attention.key_length").drop("qwen2.attention.value_length");
  CHECK(logits(v.load()) == plain("qwen2-f32"));
  const Hyperparams& h = golden::model("qwen3-f16")->hyperparams();
  CHECK(h.head_dim == 128);
  CHECK(h.dim / h.n_heads == 64);
}

TEST_CASE("rope_freqs: all ones change nothing, Llama 3.2's numbers do") {
  CHECK(logits(Variant("llama-f16").floats("rope_freqs.weight", {32}, std::vector<float>(32, 1.0f)).load()) ==
        plain("llama-f16"));
  std::vector<float> table(32, 1.0f);
  table[15] = 1.65133f;
  table[16] = 3.29226f;
  table[17] = 9.66673f;
  std::fill(table.begin() + 18, table.end(), 32.0f);
  CHECK(logits(Variant("llama-f16").floats("rope_freqs.weight", {32}, table).load()) != plain("llama-f16"));
}

TEST_CASE("linear rope scaling by f equals factors of f for every pair") {
  Variant linear("llama-f16"), table("llama-f16");
  linear.set("llama.rope.scaling.type", "linear").set("llama.rope.scaling.factor", 4.0f);
  table.floats("rope_freqs.weight", {32}, std::vector<float>(32, 4.0f));  // a power of two: exact either way
  const std::vector<float> scaled = logits(linear.load());
  CHECK(scaled == logits(table.load()));
  CHECK(scaled != plain("llama-f16"));
}

TEST_CASE("a vocabulary shorter than the embedding: the rows above it are never sampled") {
  Variant v("qwen2-untied-f16");
  const gguf::TensorInfo& embedding = *v.original().find_tensor("token_embd.weight");
  const gguf::TensorInfo& head = *v.original().find_tensor("output.weight");
  // 384 more rows whose logits are sure to win: the padding repeats the head and a bias lifts it.
  for (const gguf::TensorInfo* t : {&embedding, &head}) {
    std::vector<std::byte> twice = bytes_of(*t);
    twice.insert(twice.end(), t->data.begin(), t->data.end());
    v.tensor(t->name, t->type, {t->shape[0], 768}, twice);
  }
  std::vector<float> bias(768, 0.0f);
  std::fill(bias.begin() + 384, bias.end(), 1000.0f);
  const auto model = v.floats("output.bias", {768}, bias).load();
  CHECK(model->hyperparams().vocab == 768);
  GenerateParams params;
  params.max_tokens = 16;
  for (const float temperature : {0.0f, 1.0f}) {
    params.sampling.temperature = temperature;
    const auto session = Session::create(model, golden::options());
    for (const Token id : generate(*session, prompt, params, [](std::string_view) { return true; }).tokens)
      CHECK(id < 384);
  }
}

TEST_CASE("generation stops on an end token that only its name gives away, and shows neither") {
  const auto by_name = golden::model("qwen2-f32")->tokenizer().find("<|endoftext|>");
  REQUIRE(by_name);
  for (const Token end : {*by_name, Token(373)}) {
    // A head bias that makes this token certain.
    std::vector<float> bias(384, 0.0f);
    bias[size_t(end)] = 1000;
    const auto model = Variant("qwen2-f32").floats("output.bias", {384}, bias).load();
    std::string shown;
    const auto result =
        generate(*Session::create(model, golden::options()), prompt, {}, [&](std::string_view t) {
          shown += t;
          return true;
        });
    CHECK(result.reason == StopReason::end_token);
    CHECK(result.tokens == std::vector<Token>{end});
    CHECK(shown.empty());
  }
}
