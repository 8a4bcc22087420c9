#include "cli/output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/error.h"

namespace minfer::cli {

bool write_out(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(size_t(written));
    } else if (errno == EPIPE) {
      return false;
    } else if (errno != EINTR) {
      throw Error(ErrorCode::io, fmt::format("writing to stdout: {}", std::strerror(errno)));
    }
  }
  return true;
}

void print_error(std::string_view message, std::string_view hint) {
  std::string text = fmt::format("minfer: error: {}\n", message);
  if (!hint.empty()) text += fmt::format("  hint: {}\n", hint);
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace minfer::cli
