#pragma once
#include <memory>
#include <string>

namespace minfer::cli {

/// A line of input, or why there is none.
struct Line {
  enum class Kind { text, interrupted, end } kind = Kind::end;
  std::string text;  ///< without its line end
};

/// Where a chat's lines come from.
class LineSource {
 public:
  virtual ~LineSource() = default;
  /// `prompt` is shown before the line where someone types it. Throws Error{io} if reading fails and
  /// Error{bad_request} for a line beyond all measure.
  virtual Line read(const std::string& prompt) = 0;
};

/// Lines from stdin as they are: a pipe or a file.
std::unique_ptr<LineSource> make_plain_source();

struct EditorOptions {
  std::string history_file;  ///< kept between runs, readable by its owner only; empty: none
  bool colour = false;       ///< of the prompt
};
/// Lines typed at a terminal, with editing and history. Prompts go to stdout, or to stderr if that is the one
/// which is a terminal. A line that Ctrl-C ends is `interrupted`; catch_every_interrupt must have been
/// called.
std::unique_ptr<LineSource> make_line_editor(const EditorOptions& options);

}  // namespace minfer::cli
