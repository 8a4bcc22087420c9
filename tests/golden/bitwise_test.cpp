#include <doctest/doctest.h>

#include "golden/golden.h"

using namespace minfer;

/// Choices that may change speed but never a bit of the result. Each is compared with the plain run, which
/// logits_test.cpp holds to the reference.
namespace {

/// The first prompt followed by its continuation: longer than one block of any kernel.
std::vector<Token> long_text(const std::string& name) {
  std::vector<Token> text;
  for (const golden::Case& c : golden::cases(name)) {
    text.insert(text.end(), c.prompt.begin(), c.prompt.end());
    text.insert(text.end(), c.greedy.begin(), c.greedy.end());
  }
  text.resize(std::min<size_t>(text.size(), 97));  // three chunks of 32 and one token
  return text;
}

constexpr KvFormat formats[] = {KvFormat::f32, KvFormat::f16, KvFormat::q8_0};

}  // namespace

TEST_CASE("chunked prefill equals unchunked, bit for bit, in every KV format") {
  for (const golden::Reference& r : golden::references()) {
    const std::vector<Token> text = long_text(r.name);
    for (const KvFormat format : formats) {
      SessionOptions options = golden::options();
      options.kv_format = format;
      const std::vector<float> whole = golden::all_logits(*golden::session(r.name, options), text);
      for (const int64_t chunk : {1, 7, 32, 64}) {
        CAPTURE(r.name);
        CAPTURE(name(format));
        CAPTURE(chunk);
        options.prefill_chunk = chunk;
        const auto session = golden::session(r.name, options);
        CHECK(golden::all_logits(*session, text) == whole);
        // A prompt's chunks but the last store keys and values and nothing else.
        session->truncate(0);
        const std::span<const float> last = session->decode(text);
        CHECK(std::equal(last.begin(), last.end(), whole.end() - std::ptrdiff_t(last.size())));
      }
    }
  }
}

TEST_CASE("one token a call equals one call") {
  for (const golden::Reference& r : golden::references()) {
    CAPTURE(r.name);
    const std::vector<Token> text = long_text(r.name);
    CHECK(golden::all_logits(*golden::session(r.name), text, 1) ==
          golden::all_logits(*golden::session(r.name), text));
  }
}

TEST_CASE("one thread equals two and three") {
  for (const golden::Reference& r : golden::references()) {
    const std::vector<Token> text = long_text(r.name);
    SessionOptions options = golden::options();
    options.threads = 1;
    const std::vector<float> one = golden::all_logits(*golden::session(r.name, options), text);
    const std::vector<float> one_steps = golden::all_logits(*golden::session(r.name, options), text, 1);
    for (const int threads : {2, 3}) {
      CAPTURE(r.name);
      CAPTURE(threads);
      options.threads = threads;
      CHECK(golden::all_logits(*golden::session(r.name, options), text) == one);
      CHECK(golden::all_logits(*golden::session(r.name, options), text, 1) == one_steps);
    }
  }
}

TEST_CASE("fusion passes change no bit") {
  for (const golden::Reference& r : golden::references()) {
    CAPTURE(r.name);
    const std::vector<Token> text = long_text(r.name);
    SessionOptions options = golden::options();
    options.disabled_passes = {"swiglu", "fused_qkv", "fused_qkv_norm", "fused_ffn"};
    CHECK(golden::all_logits(*golden::session(r.name, options), text) ==
          golden::all_logits(*golden::session(r.name), text));
    CHECK(golden::all_logits(*golden::session(r.name, options), text, 1) ==
          golden::all_logits(*golden::session(r.name), text, 1));
  }
}

TEST_CASE("dropping all rows but the last keeps that row") {
  for (const golden::Reference& r : golden::references()) {
    CAPTURE(r.name);
    const std::vector<Token> text = long_text(r.name);
    const std::vector<float> all = golden::all_logits(*golden::session(r.name), text);
    const auto session = golden::session(r.name);
    const auto last = session->decode(text);
    CHECK(std::equal(last.begin(), last.end(), all.end() - long(last.size())));
  }
}

TEST_CASE("a truncated session continues like a fresh one, in every KV format") {
  for (const golden::Reference& r : golden::references()) {
    for (const KvFormat format : formats) {
      CAPTURE(r.name);
      CAPTURE(name(format));
      SessionOptions options = golden::options();
      options.kv_format = format;
      const std::vector<Token> text = long_text(r.name);
      const std::vector<Token> other(text.rbegin(), text.rend());
      const auto used = golden::session(r.name, options);
      used->decode(other);
      used->truncate(0);
      const auto fresh = golden::session(r.name, options);
      CHECK(golden::all_logits(*used, text) == golden::all_logits(*fresh, text));
      CHECK(used->tokens() == text);
    }
  }
}
