#pragma once
#include <fmt/format.h>

#include <functional>
#include <string>
#include <string_view>

namespace minfer {

enum class LogLevel { debug, info, warning, error };

/// Messages below this level are dropped. `info` unless MINFER_LOG=debug|info|warning|error says otherwise.
void set_log_level(LogLevel level);
bool log_enabled(LogLevel level);

/// Takes every message instead of stderr; null: stderr again. Calls to it come one at a time, from whichever
/// thread logs. When this returns, no other thread is inside the sink set before.
using LogSink = std::function<void(LogLevel, const std::string&)>;
void set_log_sink(LogSink sink);

/// One line on stderr: "minfer: warning: text". Safe from any thread; a line is written whole.
void log_line(LogLevel level, std::string_view text);

template <class... Args>
void log(LogLevel level, fmt::format_string<Args...> format, Args&&... args) {
  if (log_enabled(level)) log_line(level, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace minfer
