#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/error.h"
#include "cli/line_editor.h"
#include "cli/text_input.h"

namespace minfer::cli {
namespace {

class PlainSource final : public LineSource {
 public:
  Line read(const std::string&) override {
    Line line;
    int c = std::getchar();
    if (c != EOF) line.kind = Line::Kind::text;
    for (; c != EOF && c != '\n'; c = std::getchar()) {
      if (line.text.size() == max_text_bytes)
        throw Error(ErrorCode::bad_request,
                    fmt::format("stdin: more than {} MiB in one line", max_text_bytes >> 20),
                    "end each message with a line feed");
      line.text += char(c);
    }
    if (std::ferror(stdin))
      throw Error(ErrorCode::io, fmt::format("reading from stdin: {}", std::strerror(errno)));
    if (line.text.ends_with('\r')) line.text.pop_back();
    return line;
  }
};

}  // namespace

std::unique_ptr<LineSource> make_plain_source() { return std::make_unique<PlainSource>(); }

}  // namespace minfer::cli
