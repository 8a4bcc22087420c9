#include "base/log.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "base/error.h"

namespace minfer {
namespace {

constexpr const char* level_names[] = {"debug", "info", "warning", "error"};

LogLevel level_from_environment() {
  const char* wanted = std::getenv("MINFER_LOG");
  if (!wanted || !*wanted) return LogLevel::info;
  for (int i = 0; i < 4; ++i)
    if (std::strcmp(wanted, level_names[i]) == 0) return LogLevel(i);
  throw Error(ErrorCode::bad_request, fmt::format("MINFER_LOG={}: no such level", wanted),
              "use debug, info, warning or error");
}

std::atomic<LogLevel>& current_level() {
  static std::atomic<LogLevel> level = level_from_environment();
  return level;
}

/// Recursive: a sink may log, or set another sink.
struct Sink {
  std::recursive_mutex mutex;
  LogSink call;
};

Sink& current_sink() {
  static Sink sink;
  return sink;
}

}  // namespace

void set_log_level(LogLevel level) { current_level() = level; }
bool log_enabled(LogLevel level) { return level >= current_level().load(); }

void set_log_sink(LogSink sink) {
  Sink& current = current_sink();
  const std::lock_guard lock(current.mutex);
  current.call = std::move(sink);
}

void log_line(LogLevel level, std::string_view text) {
  {
    Sink& current = current_sink();
    const std::lock_guard lock(current.mutex);
    if (const LogSink call = current.call)
      return call(level, std::string(text));  // a copy: it may be replaced
  }
  std::string line = level == LogLevel::info ? fmt::format("minfer: {}\n", text)
                                             : fmt::format("minfer: {}: {}\n", level_names[int(level)], text);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace minfer
