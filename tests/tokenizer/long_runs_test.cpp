#include <doctest/doctest.h>
#include <pthread.h>
#include <time.h>

#include <functional>

#include "gguf/printable.h"
#include "tokenizer/support.h"

using namespace minfer;
using namespace minfer::test;

namespace {

std::string repeated(std::string_view unit, size_t times) {
  std::string text;
  for (size_t i = 0; i < times; ++i) text += unit;
  return text;
}

/// Runs `work` on a thread with a stack of 512 KiB, the least a server's worker might have.
void on_a_small_stack(std::function<void()> work) {
  pthread_attr_t attributes;
  REQUIRE(pthread_attr_init(&attributes) == 0);
  REQUIRE(pthread_attr_setstacksize(&attributes, 512 * 1024) == 0);
  pthread_t thread;
  const auto entry = [](void* argument) -> void* {
    (*static_cast<std::function<void()>*>(argument))();
    return nullptr;
  };
  REQUIRE(pthread_create(&thread, &attributes, entry, &work) == 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

/// Processor time of the calling thread: other work on the machine does not count.
double seconds(const std::function<void()>& work) {
  const auto now = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
  };
  const double start = now();
  work();
  return now() - start;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr double slowdown = 20;  ///< what a sanitizer may cost
#elif defined(__has_feature)
constexpr double slowdown = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ? 20 : 1;
#else
constexpr double slowdown = 1;
#endif
/// Far above what any text here takes (milliseconds), far below what quadratic work would take (minutes).
constexpr double limit = 0.75 * slowdown;

struct Row {
  std::string_view unit;
  size_t times, count;
  Token first, last;
};
constexpr Row rows[] = {
    {"A", 43'000, 5'375, 57905, 57905}, {"Z", 131'072, 65'536, 33536, 33536},
    {"\n", 20'000, 625, 79083, 79083},  {" ", 20'000, 157, 56940, 786},
    {"=", 50'000, 781, 8152, 63394},    {"us", 5'000, 5'000, 355, 355},
};

}  // namespace

TEST_CASE("Qwen3: long runs of one class take little time and little stack") {
  for (const Row& row : rows) {
    const std::string text = repeated(row.unit, row.times);
    std::vector<Token> ids;
    double time = 0;
    const Tokenizer& tokenizer = qwen3();
    on_a_small_stack([&] { time = seconds([&] { ids = ids_of(tokenizer, text); }); });
    MESSAGE("`", gguf::printable(row.unit), "` x ", row.times, ": ", ids.size(), " tokens, ", time * 1e3,
            " ms");
    REQUIRE(!ids.empty());
    CHECK(ids.size() == row.count);
    CHECK(ids.front() == row.first);
    CHECK(ids.back() == row.last);
    CHECK(time < limit);
    CHECK(tokenizer.decode(ids) == text);
  }
}

TEST_CASE("Qwen3: text made to be slow is not") {
  const std::pair<std::string_view, std::string> texts[] = {
      {"marks in reverse canonical order", "a" + repeated("\u0301\u0323", 100'000)},
      {"beginnings of special tokens", repeated("<|im_", 100'000)},
      {"special tokens", repeated("<|im_start|>", 50'000)},
      {"spaces before a letter", repeated(" ", 500'000) + "x"},
      {"newlines and spaces by turns", repeated(" \n", 250'000) + "x"},
      {"bytes that are no UTF-8", repeated("\xff\xe2\x82", 100'000)},
      {"apostrophes", repeated("'", 500'000)},
      {"digits", repeated("7", 200'000)},
  };
  for (const auto& [name, text] : texts) {
    double time = 0;
    const Tokenizer& tokenizer = qwen3();
    on_a_small_stack([&, &body = text] { time = seconds([&] { ids_of(tokenizer, body); }); });
    MESSAGE(name, ": ", text.size(), " bytes, ", time * 1e3, " ms");
    CHECK(time < limit);
  }
}

TEST_CASE("SentencePiece: long runs and texts made to be slow take little time and little stack") {
  const size_t mega = 1'000'000;
  const std::pair<std::string_view, std::string> texts[] = {
      {"one letter", repeated("a", mega)},
      {"spaces", repeated(" ", mega)},
      {"newlines", repeated("\n", mega)},
      {"digits", repeated("7", mega)},
      {"a character that is no piece", repeated("\U0001F999", mega / 4)},
      {"bytes that are no UTF-8", repeated("\xff", mega)},
      {"marks that stand for spaces", repeated("\u2581", mega / 3)},
      {"special tokens", repeated("</s>", mega / 4)},
      {"beginnings of special tokens", repeated("</s", mega / 3)},
      {"words", repeated(" the end", mega / 8)},
  };
  const Tokenizer& tokenizer = mistral();
  for (const auto& [name, text] : texts) {
    std::vector<Token> ids;
    double time = 0;
    on_a_small_stack([&, &body = text] { time = seconds([&] { ids = ids_of(tokenizer, body); }); });
    MESSAGE(name, ": ", text.size(), " bytes, ", ids.size(), " tokens, ", time * 1e3, " ms");
    CHECK(!ids.empty());
    CHECK(time < limit);
  }
}

TEST_CASE("loading a large vocabulary takes little time") {
  const std::string path = data_path("qwen3-vocab.gguf");
  double least = 1e9;
  for (int i = 0; i < 5; ++i) least = std::min(least, seconds([&] { load_tokenizer(path); }));
  MESSAGE("151,936 tokens and 151,387 merges: ", least * 1e3, " ms, best of 5");
  CHECK(least < limit);
}
