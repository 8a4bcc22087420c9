#pragma once
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "minfer/minfer.h"

/// The C interface as a program would use it; small models with random weights.
namespace minfer::test {

inline std::string golden_file(const std::string& name) {
  return std::string(MINFER_TEST_DATA_DIR) + "/golden/" + name + ".gguf";
}

/// Must return `expected`; a failure must leave a message that names `named`.
inline void expect(minfer_status got, minfer_status expected, const std::string& named = {}) {
  const std::string message = got == MINFER_OK ? "" : minfer_error_message();
  CAPTURE(message);
  CHECK(std::string(minfer_status_name(got)) == minfer_status_name(expected));
  if (got != MINFER_OK) CHECK(!message.empty());
  if (!named.empty()) CHECK((message + " " + minfer_error_hint()).find(named) != std::string::npos);
}

inline void expect_ok(minfer_status got) { expect(got, MINFER_OK); }

/// A model, freed at the end of its scope.
struct ApiModel {
  minfer_model* handle = nullptr;
  explicit ApiModel(const std::string& golden_name = "qwen2-f32") {
    expect_ok(minfer_model_load(golden_file(golden_name).c_str(), &handle));
    REQUIRE(handle != nullptr);
  }
  ~ApiModel() { minfer_model_free(handle); }
  ApiModel(const ApiModel&) = delete;
  ApiModel& operator=(const ApiModel&) = delete;
  operator minfer_model*() const { return handle; }
};

inline minfer_session_options session_options(int64_t n_ctx, int32_t threads = 1) {
  minfer_session_options options;
  expect_ok(minfer_session_options_init(&options, sizeof options));
  options.n_ctx = n_ctx;
  options.threads = threads;
  options.device = "cpu";
  options.kv_format = "f32";
  return options;
}

struct ApiSession {
  minfer_session* handle = nullptr;
  ApiSession(const minfer_model* model, const minfer_session_options& options) {
    expect_ok(minfer_session_create(model, &options, &handle));
    REQUIRE(handle != nullptr);
  }
  explicit ApiSession(const minfer_model* model, int64_t n_ctx = 64)
      : ApiSession(model, session_options(n_ctx)) {}
  ~ApiSession() { minfer_session_free(handle); }
  ApiSession(const ApiSession&) = delete;
  ApiSession& operator=(const ApiSession&) = delete;
  operator minfer_session*() const { return handle; }
};

inline minfer_sampling sampling_with(float temperature, uint64_t seed = 42) {
  minfer_sampling sampling;
  expect_ok(minfer_sampling_init(&sampling, sizeof sampling));
  sampling.temperature = temperature;
  sampling.seed = seed;
  return sampling;
}

inline std::vector<float> logits_of(minfer_session* session) {
  const float* logits = nullptr;
  size_t count = 0;
  expect_ok(minfer_session_logits(session, &logits, &count));
  return {logits, logits + count};
}

inline std::vector<int32_t> tokens_of(minfer_session* session) {
  const int32_t* tokens = nullptr;
  size_t count = 0;
  expect_ok(minfer_session_tokens(session, &tokens, &count));
  return {tokens, tokens + count};
}

inline std::vector<int32_t> generated_by(minfer_session* session) {
  const int32_t* tokens = nullptr;
  size_t count = 0;
  expect_ok(minfer_session_generated(session, &tokens, &count));
  return {tokens, tokens + count};
}

inline const std::vector<int32_t> prompt = {1, 2, 3, 4, 5, 6, 7};

}  // namespace minfer::test
