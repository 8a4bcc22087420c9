
#include <cmath>

#include "api/api_test.h"
#include "engine/generate.h"
#include "minfer/minfer.hpp"

using namespace minfer;
using namespace minfer::test;

// Every result of the C interface beside that of the engine it is made of: the same bits.

namespace {

struct Engine {
  std::shared_ptr<const Model> model;
  std::unique_ptr<Session> session;
  explicit Engine(const std::string& name, int64_t n_ctx = 64) : model(Model::load(golden_file(name))) {
    SessionOptions options;
    options.n_ctx = n_ctx;
    options.threads = 1;
    options.device = "cpu";
    options.kv_format = KvFormat::f32;
    session = Session::create(model, options);
  }
};

std::vector<float> copy(std::span<const float> row) { return {row.begin(), row.end()}; }

std::vector<int32_t> api_tokenize(const minfer_model* model, std::string_view text, bool bos, bool special) {
  size_t count = 0;
  expect_ok(minfer_tokenize(model, text.data(), text.size(), bos, special, nullptr, 0, &count));
  std::vector<int32_t> ids(count);
  expect_ok(minfer_tokenize(model, text.data(), text.size(), bos, special, ids.data(), ids.size(), &count));
  CHECK(count == ids.size());
  return ids;
}

std::string api_detokenize(const minfer_model* model, const std::vector<int32_t>& ids, bool special) {
  size_t count = 0;
  expect_ok(minfer_detokenize(model, ids.data(), ids.size(), special, nullptr, 0, &count));
  std::string text(count, '\0');
  expect_ok(minfer_detokenize(model, ids.data(), ids.size(), special, text.data(), text.size(), &count));
  CHECK(count == text.size());
  return text;
}

bool append(const char* text, size_t bytes, void* user) {
  static_cast<std::string*>(user)->append(text, bytes);
  return true;
}

}  // namespace

TEST_CASE("facts of a model") {
  for (const char* name : {"qwen2-f32", "qwen3-q4_k", "llama-q6_k"}) {
    const ApiModel model(name);
    const auto engine = Model::load(golden_file(name));
    const Hyperparams& h = engine->hyperparams();
    minfer_model_facts facts{};
    facts.size = sizeof facts;
    expect_ok(minfer_model_get_facts(model, &facts));
    CHECK(facts.size == sizeof facts);
    CHECK(facts.architecture == h.architecture);
    CHECK(std::string(facts.name) == name);
    CHECK(facts.vocab == engine->tokenizer().size());
    CHECK(facts.logits == h.vocab);
    CHECK(facts.context_length == h.context_length);
    CHECK(std::vector{facts.dim, facts.n_layers, facts.n_heads, facts.n_kv_heads, facts.head_dim,
                      facts.ffn_dim} ==
          std::vector{h.dim, h.n_layers, h.n_heads, h.n_kv_heads, h.head_dim, h.ffn_dim});
    CHECK(facts.weight_bytes == engine->weight_bytes());
    CHECK(facts.file_bytes == engine->file().file_bytes());
    CHECK(facts.bos_token == engine->tokenizer().bos().value_or(-1));
    CHECK(facts.adds_bos == engine->tokenizer().adds_bos());
    const int32_t* end = nullptr;
    size_t count = 0;
    expect_ok(minfer_model_end_tokens(model, &end, &count));
    CHECK(std::vector(end, end + count) == engine->tokenizer().end_tokens());
    CHECK(count > 0);
  }
}

TEST_CASE("text to ids and back, and each token's text") {
  const ApiModel model;
  const auto engine = Model::load(golden_file("qwen2-f32"));
  const Tokenizer& tokenizer = engine->tokenizer();
  const std::string zero("a\0b", 3);
  for (const std::string& text : {std::string(), std::string("Hello world, the fox!"), zero,
                                  std::string("<|im_start|>user"), std::string("caf\xC3\xA9 \xFF\xC3")})
    for (const bool bos : {false, true})
      for (const bool special : {false, true}) {
        CAPTURE(text);
        const std::vector<int32_t> ids = api_tokenize(model, text, bos, special);
        CHECK(ids == tokenizer.encode(text, {.add_bos = bos, .parse_special = special}));
        CHECK(api_detokenize(model, ids, special) == tokenizer.decode(ids, special));
      }
  for (Token id = 0; id < tokenizer.size(); ++id) {
    const char* text = nullptr;
    size_t count = 0;
    bool control = false;
    int32_t found = -1;
    expect_ok(minfer_model_token_text(model, id, &text, &count));
    CHECK(std::string_view(text, count) == tokenizer.token_bytes(id, true));
    expect_ok(minfer_model_is_control(model, id, &control));
    CHECK(control == tokenizer.is_control(id));
    const std::string_view stored = tokenizer.token_text(id);
    expect_ok(minfer_model_find_token(model, stored.data(), stored.size(), &found));
    CHECK(found == tokenizer.find(stored));
  }
  int32_t found = 0;
  expect_ok(minfer_model_find_token(model, "no such token", 13, &found));
  CHECK(found == -1);
}

TEST_CASE("logits of prompts and single tokens, after truncation and row by row") {
  for (const char* name : {"qwen2-f32", "qwen3-q4_k", "llama-q4_1"}) {
    CAPTURE(name);
    const ApiModel model(name);
    const ApiSession session(model);
    const Engine engine(name);
    expect_ok(minfer_session_decode(session, prompt.data(), prompt.size()));
    CHECK(logits_of(session) == copy(engine.session->decode(prompt)));
    const int32_t next = 9;
    expect_ok(minfer_session_decode(session, &next, 1));
    CHECK(logits_of(session) == copy(engine.session->decode({&next, 1})));
    CHECK(tokens_of(session) == engine.session->tokens());

    expect_ok(minfer_session_truncate(session, 3));
    engine.session->truncate(3);
    std::vector<float> rows, engine_rows;
    const auto collect = [](size_t index, const float* logits, size_t count, void* user) {
      auto& all = *static_cast<std::vector<float>*>(user);
      CHECK(all.size() == index * count);
      all.insert(all.end(), logits, logits + count);
      return true;
    };
    expect_ok(minfer_session_decode_all(session, prompt.data(), prompt.size(), collect, &rows));
    engine.session->decode_all(prompt, [&](int64_t, std::span<const float> row) {
      engine_rows.insert(engine_rows.end(), row.begin(), row.end());
    });
    CHECK(rows == engine_rows);
    const std::vector<float> last = logits_of(session);
    CHECK(last == std::vector(rows.end() - ptrdiff_t(last.size()), rows.end()));
  }
}

TEST_CASE("options reach the engine") {
  const ApiModel model("qwen3-q8_0");
  minfer_session_options options = session_options(32, 2);
  options.kv_format = "q8_0";
  options.prefill_chunk = 3;
  const ApiSession session(model, options);
  minfer_session_facts facts{};
  facts.size = sizeof facts;
  expect_ok(minfer_session_get_facts(session, &facts));
  CHECK(facts.n_ctx == 32);
  CHECK(std::string(facts.device) == "cpu");
  CHECK(std::string(facts.kv_format) == "q8_0");
  expect_ok(minfer_session_decode(session, prompt.data(), prompt.size()));
  SessionOptions same;
  same.n_ctx = 32;
  same.kv_format = KvFormat::q8_0;
  same.prefill_chunk = 3;
  const auto engine = Session::create(Model::load(golden_file("qwen3-q8_0")), same);
  CHECK(logits_of(session) == copy(engine->decode(prompt)));
}

TEST_CASE("sampling: the engine's tokens, from a session's logits and from one's own") {
  const ApiModel model;
  const ApiSession session(model);
  const Engine engine("qwen2-f32");
  expect_ok(minfer_session_decode(session, prompt.data(), prompt.size()));
  const std::vector<float> logits = copy(engine.session->decode(prompt));
  for (const float temperature : {0.0f, 0.8f, 3.0f}) {
    minfer_sampling with = sampling_with(temperature, 7);
    with.repeat_penalty = 1.3f;
    with.top_k = 20;
    with.top_p = 0.9f;
    minfer_sampler *first = nullptr, *second = nullptr;
    expect_ok(minfer_sampler_create(&with, &first));
    expect_ok(minfer_sampler_create(&with, &second));
    Sampler sampler(
        {.temperature = temperature, .top_k = 20, .top_p = 0.9f, .repeat_penalty = 1.3f, .seed = 7});
    for (int draw = 0; draw < 50; ++draw) {
      int32_t a = -1, b = -1;
      expect_ok(minfer_sampler_sample(first, session, &a));
      expect_ok(minfer_sampler_sample_logits(second, logits.data(), logits.size(), prompt.data(),
                                             prompt.size(), &b));
      const Token want = sampler.sample(logits, prompt, engine.model->tokenizer().size());
      CHECK(a == want);
      CHECK(b == want);
    }
    minfer_sampler_free(first);
    minfer_sampler_free(second);
  }
}

TEST_CASE("sampling from one's own logits: what minus infinity rules out is never chosen") {
  minfer_sampling with = sampling_with(2);
  with.top_k = 0;
  with.top_p = 1;
  minfer_sampler* sampler = nullptr;
  expect_ok(minfer_sampler_create(&with, &sampler));
  std::vector<float> logits(50, -INFINITY);
  logits[11] = 0.5f;
  logits[30] = -1;
  int chosen[2] = {};
  for (int draw = 0; draw < 2000; ++draw) {
    int32_t id = -1;
    expect_ok(minfer_sampler_sample_logits(sampler, logits.data(), logits.size(), nullptr, 0, &id));
    REQUIRE((id == 11 || id == 30));
    ++chosen[id == 30];
  }
  CHECK(chosen[0] > 0);
  CHECK(chosen[1] > 0);
  minfer_sampler_free(sampler);
}

TEST_CASE("generation: text, tokens and reasons are the engine's") {
  const ApiModel model("qwen3-f16");
  for (const float temperature : {0.0f, 0.9f}) {
    for (const int64_t max_tokens : {int64_t(0), int64_t(20), int64_t(-1)}) {
      CAPTURE(temperature);
      CAPTURE(max_tokens);
      const ApiSession session(model);
      const Engine engine("qwen3-f16");
      const minfer_sampling sampling = sampling_with(temperature, 3);
      minfer_generate_options options;
      expect_ok(minfer_generate_options_init(&options, sizeof options));
      options.sampling = &sampling;
      options.max_tokens = max_tokens;
      std::string text, engine_text;
      minfer_generate_result result{};
      result.size = sizeof result;
      expect_ok(
          minfer_session_generate(session, prompt.data(), prompt.size(), &options, append, &text, &result));
      GenerateParams params;
      params.sampling.temperature = temperature;
      params.sampling.seed = 3;
      params.max_tokens = max_tokens;
      const GenerateResult want = generate(*engine.session, prompt, params, [&](std::string_view piece) {
        engine_text += piece;
        return true;
      });
      CHECK(text == engine_text);
      CHECK(generated_by(session) == want.tokens);
      CHECK(result.prompt_tokens == want.prompt_tokens);
      CHECK(result.generated_tokens == want.generated_tokens);
      CHECK(result.generate_seconds >= 0);
      const std::vector reasons = {MINFER_STOP_END_TOKEN, MINFER_STOP_STRING, MINFER_STOP_LENGTH,
                                   MINFER_STOP_CANCELLED, MINFER_STOP_CONTEXT_FULL};
      CHECK(result.reason == reasons[size_t(want.reason)]);
      CHECK(tokens_of(session) == engine.session->tokens());
    }
  }
}

TEST_CASE("generation: stop texts, and a callback that has enough") {
  const ApiModel model("qwen3-f16");
  std::string all;
  const minfer_sampling greedy = sampling_with(0);
  minfer_generate_options options;
  expect_ok(minfer_generate_options_init(&options, sizeof options));
  options.sampling = &greedy;
  options.max_tokens = 30;
  expect_ok(minfer_session_generate(ApiSession(model), prompt.data(), prompt.size(), &options, append, &all,
                                    nullptr));
  REQUIRE(all.size() > 8);
  const std::string stop = all.substr(4, 3);
  const std::vector<const char*> stops = {"never in it", stop.c_str()};
  options.stop = stops.data();
  options.n_stop = stops.size();
  std::string cut;
  minfer_generate_result result{};
  result.size = sizeof result;
  expect_ok(minfer_session_generate(ApiSession(model), prompt.data(), prompt.size(), &options, append, &cut,
                                    &result));
  CHECK(cut == all.substr(0, all.find(stop)));
  CHECK(result.reason == MINFER_STOP_STRING);

  options.n_stop = 0;
  std::string first;
  const auto enough = [](const char* text, size_t bytes, void* user) {
    append(text, bytes, user);
    return false;
  };
  expect_ok(minfer_session_generate(ApiSession(model), prompt.data(), prompt.size(), &options, enough, &first,
                                    &result));
  CHECK(result.reason == MINFER_STOP_CANCELLED);
  CHECK(!first.empty());
  CHECK(first.size() < all.size());
  CHECK(all.starts_with(first));
}

TEST_CASE("the C++ wrapper gives what the C calls give") {
  const minfer_cpp::Model model(golden_file("qwen2-f32"));
  const auto engine_model = Model::load(golden_file("qwen2-f32"));
  CHECK(model.facts().vocab == engine_model->tokenizer().size());
  const auto ids = model.tokenize("Hello world", true, false);
  CHECK(ids == engine_model->tokenizer().encode("Hello world", {.add_bos = true, .parse_special = false}));
  CHECK(model.detokenize(ids) == "Hello world");
  CHECK(model.detokenize({}).empty());
  CHECK(model.find_token("<|im_end|>") >= 0);
  CHECK(model.is_control(model.find_token("<|im_end|>")));
  CHECK(model.token_text(model.end_tokens()[0]) ==
        engine_model->tokenizer().token_bytes(engine_model->tokenizer().end_tokens()[0], true));

  minfer_cpp::SessionOptions options;
  options.n_ctx = 64;
  options.threads = 1;
  minfer_cpp::Session session(model, options);
  const Engine engine("qwen2-f32");
  CHECK(session.facts().n_ctx == 64);
  CHECK(copy(session.decode(ids)) == copy(engine.session->decode(ids)));
  minfer_cpp::Sampling greedy;
  greedy.temperature = 0;
  minfer_cpp::Sampler sampler(greedy);
  CHECK(sampler.sample(session) == sampler.sample(session.logits(), session.tokens()));
  session.truncate(1);
  CHECK(session.tokens().size() == 1);
  size_t rows = 0;
  session.decode_all(ids, [&](size_t index, std::span<const float>) { return index == rows++; });
  CHECK(rows == ids.size());

  minfer_cpp::GenerateOptions generation;
  generation.sampling = greedy;
  generation.max_tokens = 5;
  std::string text;
  const auto result = session.generate(ids, generation, [&](std::string_view piece) {
    text += piece;
    return true;
  });
  CHECK(size_t(result.generated_tokens) == session.generated().size());
  CHECK(text == model.detokenize(session.generated(), false));
}

TEST_CASE("the C++ wrapper: failures and what a callback throws come out as exceptions") {
  try {
    minfer_cpp::Model("no-such-file.gguf");
    FAIL("no exception");
  } catch (const minfer_cpp::Error& error) {
    CHECK(error.status == MINFER_IO);
    CHECK(std::string(error.what()).find("no-such-file.gguf") != std::string::npos);
  }
  const minfer_cpp::Model model(golden_file("qwen2-f32"));
  minfer_cpp::SessionOptions options;
  options.n_ctx = 64;
  minfer_cpp::Session session(model, options);
  struct Mine {};
  CHECK_THROWS_AS(session.generate(prompt, {}, [](std::string_view) -> bool { throw Mine(); }), Mine);
  session.truncate(0);
  CHECK_THROWS_AS(session.decode_all(prompt, [](size_t, std::span<const float>) -> bool { throw Mine(); }),
                  Mine);
  CHECK(session.tokens().empty());
  CHECK_THROWS_AS(session.logits(), minfer_cpp::Error);
  session.cancel();
  CHECK_THROWS_AS(session.decode(prompt), minfer_cpp::Error);
  session.cancel();
  session.clear_cancel();
  CHECK(!session.decode(prompt).empty());
}
