#pragma once
#include <string>
#include <string_view>

#include "cli/line_editor.h"

namespace minfer::cli {

/// What was entered at once: a message of one or more lines, or a command.
struct Entry {
  enum class Kind { message, command, interrupted, end } kind = Kind::end;
  std::string text;  ///< a command without its slash
};

/// Reads one entry. A line that ends in a backslash goes on in the next one. `"""` at the head of a line
/// begins a message that goes on to a line ending in `"""`; whatever is inside is text. A line with a slash
/// at its head is a command. Blank lines are passed over. Ctrl-C drops what was begun; the end of the input
/// ends it.
Entry read_entry(LineSource& source);

}  // namespace minfer::cli
