#include "download/progress.h"

#include <doctest/doctest.h>

#include <vector>

using minfer::download::Progress;
using std::chrono::milliseconds;

namespace {

/// What a Progress writes, by a clock that the test moves.
struct Screen {
  std::vector<std::string> writes;
  Progress::Clock::time_point now{};

  Progress make(uint64_t total, uint64_t done, bool terminal) {
    return Progress(
        "a.gguf", total, done, terminal, [this](std::string_view text) { writes.emplace_back(text); }, now);
  }
};

}  // namespace

TEST_CASE("elsewhere than on a terminal there is one line for each tenth, however small the steps") {
  Screen screen;
  Progress progress = screen.make(1'000'000, 0, false);
  for (uint64_t done = 0; done <= 1'000'000; done += 1000) {
    screen.now += milliseconds(1);
    progress.update(done, screen.now);
  }
  progress.finish();
  REQUIRE(screen.writes.size() == 10);
  CHECK(screen.writes.front() == "minfer: a.gguf: 10 % of 1.0 MB\n");
  CHECK(screen.writes[4] == "minfer: a.gguf: 50 % of 1.0 MB, 998 kB/s, 0:01 left\n");
  CHECK(screen.writes.back() == "minfer: a.gguf: 100 % of 1.0 MB, 999 kB/s\n");
  for (const std::string& line : screen.writes) CHECK(line.find_first_of("\r\x1b") == std::string::npos);
}

TEST_CASE("what was there before counts for the share and not for the speed") {
  Screen screen;
  Progress progress = screen.make(10'000'000, 7'500'000, false);
  screen.now += milliseconds(1000);
  progress.update(8'500'000, screen.now);
  REQUIRE(screen.writes.size() == 1);
  CHECK(screen.writes[0] == "minfer: a.gguf: 80 % of 10 MB, 1.0 MB/s, 0:02 left\n");
}

TEST_CASE("on a terminal the line is redrawn at most ten times a second, and at the end") {
  Screen screen;
  Progress progress = screen.make(100'000, 0, true);
  for (int step = 1; step <= 1000; ++step) {
    screen.now += milliseconds(1);
    progress.update(uint64_t(step) * 100, screen.now);
  }
  CHECK(screen.writes.size() == 11);  // at 0, 100, …, 900 ms, and the last one
  for (const std::string& line : screen.writes) {
    CHECK(line.front() == '\r');
    CHECK(line.find('\n') == std::string::npos);
    CHECK(line.size() < 80 + std::string("\r\x1b[K").size());
  }
  CHECK(screen.writes.back() == "\ra.gguf [####################] 100 % of 100 kB, 100 kB/s\x1b[K");
  progress.finish();
  CHECK(screen.writes.back() == "\n");
  const size_t before = screen.writes.size();
  progress.finish();
  CHECK(screen.writes.size() == before);
}

TEST_CASE("labels from outside cannot move the cursor, and an empty file is whole at once") {
  std::string text;
  Progress progress("a\x1b[2J\n.gguf", 0, 0, true, [&](std::string_view piece) { text += piece; }, {});
  progress.update(0, {});
  CHECK(text.find("\x1b[2J") == std::string::npos);
  CHECK(text.find("100 %") != std::string::npos);
}
