#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#include "api/api_test.h"

using namespace minfer::test;

// The thread rules of minfer.h. Run under the thread sanitizer too (`make tsan`).

namespace {

/// A generation that runs until it is cancelled, and says when it has begun.
struct Endless {
  std::atomic<bool> begun = false;
  minfer_generate_result result{};
  minfer_status status = MINFER_INTERNAL;

  void run(minfer_session* session) {
    const minfer_sampling sampling = sampling_with(0);
    minfer_generate_options options;
    minfer_generate_options_init(&options, sizeof options);
    options.sampling = &sampling;
    options.max_tokens = -1;
    result.size = sizeof result;
    const auto text = [](const char*, size_t, void* user) {
      static_cast<Endless*>(user)->begun = true;
      return true;
    };
    status = minfer_session_generate(session, prompt.data(), prompt.size(), &options, text, this, &result);
    begun = true;
  }
  void wait() const {
    while (!begun) std::this_thread::yield();
  }
};

minfer_status generate_some(minfer_session* session, int64_t max_tokens, minfer_stop_reason& reason) {
  minfer_generate_options options;
  minfer_generate_options_init(&options, sizeof options);
  options.max_tokens = max_tokens;
  minfer_generate_result result{};
  result.size = sizeof result;
  const minfer_status status =
      minfer_session_generate(session, prompt.data(), prompt.size(), &options, nullptr, nullptr, &result);
  reason = result.reason;
  return status;
}

}  // namespace

TEST_CASE("another thread cancels a generation; the session stays usable") {
  const ApiModel model("qwen2-f32");  // its greedy answer does not end before the context is full
  const ApiSession session(model, 100000);
  Endless endless;
  std::thread worker([&] { endless.run(session); });
  endless.wait();
  expect_ok(minfer_session_cancel(session));
  worker.join();
  expect_ok(endless.status);
  CHECK(endless.result.reason == MINFER_STOP_CANCELLED);
  CHECK(endless.result.generated_tokens > 0);
  CHECK(generated_by(session).size() == size_t(endless.result.generated_tokens));
  expect_ok(minfer_session_decode(session, prompt.data(), prompt.size()));
}

TEST_CASE("another thread cancels the decoding of a long prompt: the cache is as before") {
  const ApiModel model("llama-f16");
  const ApiSession session(model, 100000);
  expect_ok(minfer_session_decode(session, prompt.data(), prompt.size()));
  const std::vector<int32_t> very_long(90000, 5);  // minutes of work
  minfer_status status = MINFER_OK;
  std::thread worker([&] { status = minfer_session_decode(session, very_long.data(), very_long.size()); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // well inside, mostly; before is right as well
  expect_ok(minfer_session_cancel(session));
  worker.join();
  CHECK(status == MINFER_CANCELLED);
  CHECK(tokens_of(session) == prompt);
  expect_ok(minfer_session_decode(session, prompt.data(), 1));
}

TEST_CASE("a request to cancel holds for one call, and can be taken back") {
  const ApiModel model;
  const ApiSession session(model, 256);
  minfer_stop_reason reason{};
  expect_ok(minfer_session_cancel(session));
  expect_ok(generate_some(session, 1, reason));
  CHECK(reason == MINFER_STOP_CANCELLED);
  expect_ok(generate_some(session, 1, reason));
  CHECK(reason != MINFER_STOP_CANCELLED);
  expect_ok(minfer_session_cancel(session));
  expect_ok(minfer_session_clear_cancel(session));
  expect_ok(generate_some(session, 1, reason));
  CHECK(reason != MINFER_STOP_CANCELLED);

  const std::vector<int32_t> before = tokens_of(session);
  expect_ok(minfer_session_cancel(session));
  expect(minfer_session_decode(session, prompt.data(), prompt.size()), MINFER_CANCELLED);
  expect_ok(minfer_session_cancel(session));
  const auto row = [](size_t, const float*, size_t, void*) { return true; };
  expect(minfer_session_decode_all(session, prompt.data(), prompt.size(), row, nullptr), MINFER_CANCELLED);
  CHECK(tokens_of(session) == before);
  expect_ok(minfer_session_decode(session, prompt.data(), prompt.size()));
}

TEST_CASE("a second call on a busy session or sampler is refused, and disturbs nothing") {
  const ApiModel model("qwen2-f32");
  const ApiSession session(model, 100000);
  Endless endless;
  std::thread worker([&] { endless.run(session); });
  endless.wait();
  const float* logits = nullptr;
  const int32_t* tokens = nullptr;
  size_t count = 0;
  minfer_session_facts facts{};
  facts.size = sizeof facts;
  minfer_stop_reason reason{};
  const std::string why = "in use";
  expect(minfer_session_decode(session, prompt.data(), 1), MINFER_BAD_REQUEST, why);
  expect(minfer_session_logits(session, &logits, &count), MINFER_BAD_REQUEST, why);
  expect(minfer_session_tokens(session, &tokens, &count), MINFER_BAD_REQUEST, why);
  expect(minfer_session_generated(session, &tokens, &count), MINFER_BAD_REQUEST, why);
  expect(minfer_session_truncate(session, 0), MINFER_BAD_REQUEST, why);
  expect(minfer_session_get_facts(session, &facts), MINFER_BAD_REQUEST, why);
  expect(generate_some(session, 1, reason), MINFER_BAD_REQUEST, why);
  expect_ok(minfer_session_cancel(session));
  worker.join();
  expect_ok(endless.status);
  CHECK(endless.result.reason == MINFER_STOP_CANCELLED);
}

TEST_CASE("a callback cannot call into its own session") {
  const ApiModel model;
  const ApiSession session(model);
  const auto row = [](size_t, const float*, size_t, void* user) {
    return minfer_session_decode(static_cast<minfer_session*>(user), prompt.data(), 1) == MINFER_BAD_REQUEST;
  };
  expect_ok(minfer_session_decode_all(session, prompt.data(), prompt.size(), row, session.handle));
  CHECK(tokens_of(session) == prompt);
}

TEST_CASE("sessions on one model run side by side, with the results they have alone") {
  const ApiModel model("qwen3-f16");
  const auto run = [&](uint64_t seed) {
    const ApiSession session(model, session_options(64, 2));
    const minfer_sampling sampling = sampling_with(1, seed);
    minfer_generate_options options;
    minfer_generate_options_init(&options, sizeof options);
    options.sampling = &sampling;
    options.max_tokens = 24;
    minfer_session_generate(session, prompt.data(), prompt.size(), &options, nullptr, nullptr, nullptr);
    return generated_by(session);
  };
  const std::vector<int32_t> first = run(1), second = run(2);
  CHECK(first != second);
  std::vector<int32_t> together[2];
  std::thread one([&] { together[0] = run(1); }), two([&] { together[1] = run(2); });
  one.join();
  two.join();
  CHECK(together[0] == first);
  CHECK(together[1] == second);
}

TEST_CASE("a model may be freed before its sessions, on another thread") {
  auto model = std::make_unique<ApiModel>();
  const ApiSession session(*model);
  std::thread([&] { model.reset(); }).join();
  expect_ok(minfer_session_decode(session, prompt.data(), prompt.size()));
}

TEST_CASE("log messages go to the callback, from any thread, one at a time") {
  struct Log {
    std::atomic<int> inside = 0, messages = 0;
    std::string last;
  } log;
  const auto callback = [](minfer_log_level level, const char* text, void* user) {
    auto& to = *static_cast<Log*>(user);
    CHECK(to.inside.fetch_add(1) == 0);
    CHECK(level == MINFER_LOG_WARNING);
    to.last = text;
    ++to.messages;
    --to.inside;
  };
  const ApiModel model;
  expect_ok(minfer_log_set_callback(callback, &log));
  const auto warn = [&] {
    for (int i = 0; i < 20; ++i) const ApiSession longer_than_trained(model, 100000);
  };
  std::thread one(warn), two(warn);
  one.join();
  two.join();
  CHECK(log.messages == 40);
  CHECK(log.last.find("100000") != std::string::npos);
  expect_ok(minfer_log_set_level(MINFER_LOG_ERROR));
  warn();
  CHECK(log.messages == 40);
  expect_ok(minfer_log_set_callback(nullptr, nullptr));
  warn();
  CHECK(log.messages == 40);
  expect_ok(minfer_log_set_level(MINFER_LOG_INFO));
}
