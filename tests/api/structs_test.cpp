#include <cstring>

#include "api/api_test.h"

using namespace minfer::test;

// Programs compiled with an older or a newer header: their structs are shorter or longer than the library's.

TEST_CASE("an init function writes only what the caller has room for") {
  minfer_sampling sampling;
  std::memset(static_cast<void*>(&sampling), 0x7e, sizeof sampling);
  const size_t older = offsetof(minfer_sampling, top_p);
  expect_ok(minfer_sampling_init(&sampling, older));
  CHECK(sampling.size == older);
  CHECK(sampling.top_k == 40);
  const auto* bytes = reinterpret_cast<const unsigned char*>(&sampling);
  for (size_t i = older; i < sizeof sampling; ++i) CHECK(bytes[i] == 0x7e);

  // A newer caller: what the library does not know is zero, which is every later field's default.
  struct {
    minfer_sampling known;
    char later[16];
  } newer;
  std::memset(static_cast<void*>(&newer), 0x7e, sizeof newer);
  expect_ok(minfer_sampling_init(&newer.known, sizeof newer));
  CHECK(newer.known.size == sizeof newer);
  for (const char byte : newer.later) CHECK(byte == 0);
}

TEST_CASE("an older caller's options: its own fields count, the later ones are defaults") {
  minfer_sampling sampling = sampling_with(0.5f);
  sampling.temperature = 0;
  sampling.repeat_penalty = 1e9f;  // beyond the caller's struct: must not be looked at
  sampling.size = offsetof(minfer_sampling, top_p);
  minfer_sampler* sampler = nullptr;
  expect_ok(minfer_sampler_create(&sampling, &sampler));
  minfer_sampler_free(sampler);
  sampling.size = sizeof sampling;
  expect(minfer_sampler_create(&sampling, &sampler), MINFER_BAD_REQUEST, "repeat_penalty");
}

TEST_CASE("a newer caller's options: unknown settings are refused, not ignored") {
  struct {
    minfer_sampling known;
    char later[16];
  } newer;
  expect_ok(minfer_sampling_init(&newer.known, sizeof newer));
  minfer_sampler* sampler = nullptr;
  expect_ok(minfer_sampler_create(&newer.known, &sampler));
  minfer_sampler_free(sampler);
  newer.later[9] = 1;
  expect(minfer_sampler_create(&newer.known, &sampler), MINFER_UNSUPPORTED, "newer minfer");
}

TEST_CASE("a result struct of an older caller is not written beyond its end") {
  const ApiModel model;
  minfer_model_facts facts;
  std::memset(static_cast<void*>(&facts), 0x7e, sizeof facts);
  facts.size = offsetof(minfer_model_facts, context_length);
  expect_ok(minfer_model_get_facts(model, &facts));
  CHECK(facts.logits == 384);
  const auto* bytes = reinterpret_cast<const unsigned char*>(&facts);
  for (size_t i = facts.size; i < sizeof facts; ++i) CHECK(bytes[i] == 0x7e);
}

TEST_CASE("a size that was never set is refused") {
  const ApiModel model;
  for (const size_t size : {size_t(0), size_t(4), size_t(5000), SIZE_MAX}) {
    minfer_session_options session_options{};
    minfer_sampling sampling{};
    minfer_generate_options generate_options{};
    minfer_model_facts model_facts{};
    minfer_session_facts session_facts{};
    minfer_generate_result result{};
    session_options.size = sampling.size = generate_options.size = model_facts.size = session_facts.size =
        result.size = size;
    minfer_session* created = nullptr;
    minfer_sampler* sampler = nullptr;
    const ApiSession session(model);
    expect(minfer_session_options_init(&session_options, size), MINFER_BAD_REQUEST, "size");
    expect(minfer_sampling_init(&sampling, size), MINFER_BAD_REQUEST, "size");
    expect(minfer_generate_options_init(&generate_options, size), MINFER_BAD_REQUEST, "size");
    expect(minfer_session_create(model, &session_options, &created), MINFER_BAD_REQUEST, "size");
    expect(minfer_sampler_create(&sampling, &sampler), MINFER_BAD_REQUEST, "size");
    expect(minfer_model_get_facts(model, &model_facts), MINFER_BAD_REQUEST, "size");
    expect(minfer_session_get_facts(session, &session_facts), MINFER_BAD_REQUEST, "size");
    expect(minfer_session_generate(session, prompt.data(), prompt.size(), &generate_options, nullptr, nullptr,
                                   nullptr),
           MINFER_BAD_REQUEST, "size");
    expect(minfer_session_generate(session, prompt.data(), prompt.size(), nullptr, nullptr, nullptr, &result),
           MINFER_BAD_REQUEST, "size");
    CHECK(created == nullptr);
    CHECK(sampler == nullptr);
    CHECK(tokens_of(session).empty());
  }
}
