#include "download/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "download/files.h"
#include "gguf/printable.h"

namespace minfer::download {
namespace {

constexpr std::chrono::milliseconds redraw_every{100};
constexpr int bar_cells = 20;
constexpr size_t label_bytes = 28;

uint64_t percent_of(uint64_t done, uint64_t total) {
  return total == 0 ? 100 : uint64_t(double(std::min(done, total)) * 100 / double(total));
}

std::string time_text(double seconds) {
  const auto whole = int64_t(seconds + 0.5);
  if (whole >= 3600) return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

}  // namespace

Progress::Progress(std::string label, uint64_t total, uint64_t done, bool terminal, Write write,
                   Clock::time_point now)
    : label_(gguf::printable(label, terminal ? label_bytes : 200)),
      total_(total),
      begin_(done),
      terminal_(terminal),
      write_(std::move(write)),
      start_(now),
      last_(now - redraw_every),
      next_tenth_(percent_of(done, total) / 10 + 1) {}

Progress Progress::on_stderr(std::string label, uint64_t total, uint64_t done) {
  return Progress(
      std::move(label), total, done, ::isatty(STDERR_FILENO) == 1,
      [](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); }, Clock::now());
}

void Progress::update(uint64_t done, Clock::time_point now) {
  if (terminal_) {
    if (now - last_ < redraw_every && done < total_) return;
    last_ = now;
    draw(done, now);
    return;
  }
  const uint64_t percent = percent_of(done, total_);
  if (percent / 10 < next_tenth_) return;
  next_tenth_ = percent / 10 + 1;
  write_(fmt::format("minfer: {}: {} % of {}{}\n", label_, percent / 10 * 10, size_text(total_),
                     rate_text(done, now)));
}

/// Of what this process has fetched; empty in the first half second, when it would only mislead.
std::string Progress::rate_text(uint64_t done, Clock::time_point now) const {
  const double seconds = std::chrono::duration<double>(now - start_).count();
  if (seconds < 0.5 || done <= begin_) return {};
  const double rate = double(done - begin_) / seconds;
  std::string text = fmt::format(", {}/s", size_text(uint64_t(rate)));
  if (done < total_ && rate > 0) text += fmt::format(", {} left", time_text(double(total_ - done) / rate));
  return text;
}

void Progress::draw(uint64_t done, Clock::time_point now) {
  const uint64_t percent = percent_of(done, total_);
  const auto filled = size_t(percent * bar_cells / 100);
  const std::string bar = std::string(filled, '#') + std::string(bar_cells - filled, '.');
  // Erases to the end of the line, since the new text may be shorter.
  write_(fmt::format("\r{} [{}] {:3} % of {}{}\x1b[K", label_, bar, percent, size_text(total_),
                     rate_text(done, now)));
  drawn_ = true;
}

void Progress::finish() {
  if (drawn_) write_("\n");
  drawn_ = false;
}

}  // namespace minfer::download
