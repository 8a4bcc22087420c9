#pragma once
#include <string_view>

namespace minfer::cli {

/// How a command ended, as the shell sees it. 2 is also what a shell gives for its own usage errors.
inline constexpr int exit_ok = 0, exit_error = 1, exit_usage = 2, exit_interrupted = 130;

/// Writes to stdout at once, past any buffer. False: the reader has closed the pipe, so more output is
/// useless and no error. Throws Error{io} if writing fails for another reason, e.g. a full disk.
bool write_out(std::string_view text);

/// "minfer: error: MESSAGE" and, if there is one, "  hint: HINT" on stderr.
void print_error(std::string_view message, std::string_view hint);

}  // namespace minfer::cli
