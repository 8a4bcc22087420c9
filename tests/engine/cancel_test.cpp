#include <doctest/doctest.h>

#include <chrono>
#include <thread>

#include "backends/cpu/program.h"
#include "engine/generate.h"
#include "engine/session.h"

using namespace minfer;

namespace {

/// A flag that turns true after some time in another thread, as Ctrl-C does.
struct LaterFlag {
  std::atomic<bool> flag{false};
  std::thread thread;
  explicit LaterFlag(std::chrono::microseconds delay)
      : thread([this, delay] {
          std::this_thread::sleep_for(delay);
          flag = true;
        }) {}
  ~LaterFlag() { thread.join(); }
};

std::shared_ptr<const Model> model() {
  static const auto loaded = Model::load(std::string(MINFER_TEST_DATA_DIR) + "/golden/qwen2-f32.gguf");
  return loaded;
}

SessionOptions options(int threads) {
  SessionOptions o;
  o.n_ctx = 512;
  o.prefill_chunk = 32;
  o.threads = threads;
  return o;
}

std::vector<Token> long_text() {
  std::vector<Token> text(500);
  for (size_t i = 0; i < text.size(); ++i) text[i] = Token(i * 7 % 300);
  return text;
}

std::vector<float> copy(std::span<const float> row) { return {row.begin(), row.end()}; }

}  // namespace

TEST_CASE("a program ends at the first barrier after the flag, for every worker") {
  for (const int threads : {1, 2, 3}) {
    CAPTURE(threads);
    ThreadPool pool(threads);
    std::atomic<bool> flag{false};
    std::vector<std::atomic<int>> entered(6);
    cpu::CpuProgram program;
    for (size_t i = 0; i < entered.size(); ++i) {
      cpu::Step step;
      step.work = [&, i](const cpu::Lane&) {
        ++entered[i];
        if (i == 2) flag = true;
      };
      step.barrier_before = i > 0 && i != 3;
      program.steps.push_back(std::move(step));
    }
    program.run(pool, nullptr);  // without a flag to look at, all is done
    for (const auto& count : entered) CHECK(count == threads);
    flag = false;
    program.run(pool, &flag);
    for (size_t i = 0; i < entered.size(); ++i) CHECK(entered[i] == (i < 4 ? 2 * threads : threads));
  }
}

TEST_CASE("a prompt that is cancelled leaves whole chunks, and they are right") {
  const std::vector<Token> text = long_text(), other(text.rbegin(), text.rend());
  for (const int threads : {1, 2, 3}) {
    const auto session = Session::create(model(), options(threads));
    const std::vector<float> want = copy(session->decode(text));
    session->truncate(0);
    const std::atomic<bool> at_once{true};
    CHECK(session->decode(text, &at_once).empty());
    CHECK(session->tokens().empty());
    int between_chunks = 0;
    for (int delay_us = 0; delay_us < 20'000; delay_us += 2'000) {
      session->truncate(0);
      session->decode(other);  // so that no row is right from before
      session->truncate(0);
      bool cancelled = false;
      {
        const LaterFlag later{std::chrono::microseconds(delay_us)};
        cancelled = session->decode(text, &later.flag).empty();
      }
      const size_t done = session->tokens().size();
      CHECK((cancelled ? done < text.size() && done % 32 == 0 : done == text.size()));
      CHECK(std::equal(session->tokens().begin(), session->tokens().end(), text.begin()));
      between_chunks += cancelled && done > 0;
      // The rest gives the same bits as the whole: nothing half done is used.
      if (cancelled) CHECK(copy(session->decode(std::span(text).subspan(done))) == want);
    }
    MESSAGE(threads << " threads: " << between_chunks << " of 10 calls ended after some of the chunks");
  }
}

TEST_CASE("generation cancelled in its prompt has made nothing") {
  const auto session = Session::create(model(), options(1));
  const std::atomic<bool> cancel{true};
  GenerateParams params;
  params.cancel = &cancel;
  const auto result = generate(*session, long_text(), params, [](std::string_view) { return true; });
  CHECK(result.reason == StopReason::cancelled);
  CHECK(result.tokens.empty());
  CHECK(session->tokens().empty());
}
