#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace minfer::download {

/// How far a download is: on a terminal one line redrawn at most ten times a second, elsewhere a line for
/// each tenth of the whole.
class Progress {
 public:
  using Clock = std::chrono::steady_clock;
  using Write = std::function<void(std::string_view)>;

  /// `total` in bytes; `done`: what was there before this process began.
  Progress(std::string label, uint64_t total, uint64_t done, bool terminal, Write write,
           Clock::time_point now);

  /// On stderr, as it is.
  static Progress on_stderr(std::string label, uint64_t total, uint64_t done);

  void update(uint64_t done, Clock::time_point now = Clock::now());
  /// Ends the terminal's line; to be called before anything else is printed.
  void finish();

 private:
  std::string rate_text(uint64_t done, Clock::time_point now) const;
  void draw(uint64_t done, Clock::time_point now);

  std::string label_;
  uint64_t total_, begin_;
  bool terminal_, drawn_ = false;
  Write write_;
  Clock::time_point start_, last_;
  uint64_t next_tenth_;
};

}  // namespace minfer::download
