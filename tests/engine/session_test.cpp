#include <doctest/doctest.h>

#include <cstdlib>

#include "base/error.h"
#include "engine/generate.h"
#include "engine/session.h"

using namespace minfer;

namespace {

/// Sets a variable for one scope.
struct Environment {
  const char* variable;
  Environment(const char* key, const char* value) : variable(key) { ::setenv(key, value, 1); }
  ~Environment() { ::unsetenv(variable); }
};

std::shared_ptr<const Model> model() {
  static const auto loaded = Model::load(std::string(MINFER_TEST_DATA_DIR) + "/golden/qwen2-f32.gguf");
  return loaded;
}

SessionOptions options() {
  SessionOptions o;
  o.n_ctx = 16;
  o.threads = 1;
  o.device = "cpu";
  return o;
}

const std::vector<Token> prompt = {1, 2, 3, 4};

std::vector<float> copy(std::span<const float> row) { return {row.begin(), row.end()}; }

template <class Call>
void check_error(ErrorCode code, const std::vector<std::string>& named, Call&& call) {
  try {
    call();
    FAIL("no error");
  } catch (const Error& e) {
    CHECK(e.code == code);
    for (const std::string& text : named) CHECK((e.what() + (" " + e.hint)).find(text) != std::string::npos);
  }
}

}  // namespace

TEST_CASE("too many tokens: both numbers, and nothing is lost") {
  const auto session = Session::create(model(), options());
  session->decode(prompt);
  const std::vector<Token> more(13, 5);
  check_error(ErrorCode::context_length_exceeded, {"17", "16"}, [&] { session->decode(more); });
  CHECK(session->tokens() == prompt);
}

TEST_CASE("an id outside the model is refused before any work") {
  const auto session = Session::create(model(), options());
  for (const Token bad : {-1, 384})
    check_error(ErrorCode::bad_request, {std::to_string(bad)}, [&] { session->decode({&bad, 1}); });
  check_error(ErrorCode::bad_request, {}, [&] { session->decode({}); });
  CHECK(session->tokens().empty());
}

TEST_CASE("logits that are not finite, or a failed execution, end the call; the next one is normal") {
  const auto clean = Session::create(model(), options());
  clean->decode(prompt);
  const Token next = 7;
  const std::vector<float> want = copy(clean->decode({&next, 1}));
  for (const char* point : {"logits_nan@2", "logits_inf@2", "execute@2"}) {
    CAPTURE(point);
    const Environment fault("MINFER_TEST_CALL_FAIL", point);
    const auto session = Session::create(model(), options());
    session->decode(prompt);
    check_error(ErrorCode::device, {}, [&] { session->decode({&next, 1}); });
    CHECK(session->tokens() == prompt);
    CHECK(copy(session->decode({&next, 1})) == want);
  }
}

TEST_CASE("a failure in a later chunk takes the earlier chunks back") {
  SessionOptions o = options();
  o.prefill_chunk = 2;
  const Environment fault("MINFER_TEST_CALL_FAIL", "execute@2");
  const auto session = Session::create(model(), o);
  check_error(ErrorCode::device, {}, [&] { session->decode(prompt); });
  CHECK(session->tokens().empty());
  CHECK(copy(session->decode(prompt)) == copy(Session::create(model(), options())->decode(prompt)));
}

TEST_CASE("devices and cache formats that this build lacks are refused by name") {
  SessionOptions o = options();
  o.device = "teapot";
  check_error(ErrorCode::unsupported, {"teapot", "cpu"}, [&] { Session::create(model(), o); });
  for (const char* format : {"F16", "q4_0"}) {
    const Environment cache("MINFER_CACHE_TYPE", format);
    check_error(ErrorCode::bad_request, {format}, [&] { Session::create(model(), options()); });
  }
  const Environment cache("MINFER_CACHE_TYPE", "f16");
  CHECK(Session::create(model(), options())->kv_format() == KvFormat::f16);
  o = options();
  o.kv_format = KvFormat::q8_0;  // an explicit choice wins
  CHECK(Session::create(model(), o)->kv_format() == KvFormat::q8_0);
}

TEST_CASE("generation ends with the reason that applies") {
  const auto ignore = [](std::string_view) { return true; };
  GenerateParams params;
  params.sampling.temperature = 0;
  params.max_tokens = 3;
  const auto first = generate(*Session::create(model(), options()), prompt, params, ignore);
  CHECK(first.reason == StopReason::length);
  CHECK(first.generated_tokens == 3);
  CHECK(first.prompt_tokens == 4);
  // 13 tokens are the most that 16 cells allow: the last one needs no cell.
  params.max_tokens = 13;
  const auto last = generate(*Session::create(model(), options()), prompt, params, ignore);
  CHECK((last.reason == StopReason::length || last.reason == StopReason::end_token));
  params.max_tokens = -1;
  const auto full = generate(*Session::create(model(), options()), prompt, params, ignore);
  CHECK((full.reason == StopReason::context_full || full.reason == StopReason::end_token));
  const std::atomic<bool> cancel{true};
  params.cancel = &cancel;
  const auto none = generate(*Session::create(model(), options()), prompt, params, ignore);
  CHECK(none.reason == StopReason::cancelled);
  CHECK(none.tokens.empty());
  params.cancel = nullptr;
  const std::vector<Token> too_long(17, 1);
  check_error(ErrorCode::context_length_exceeded, {"17", "16"},
              [&] { generate(*Session::create(model(), options()), too_long, params, ignore); });
}
