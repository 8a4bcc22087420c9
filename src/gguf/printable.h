#pragma once
#include <string>
#include <string_view>

namespace minfer::gguf {

/// Text from a file, made safe for one line on a terminal: control characters, bytes that are not UTF-8 and
/// backslashes become escapes (\n, \x1b, \\), so does what reorders or breaks lines (U+0080..9F,
/// U+2028..202E, U+2066..2069). At most `max_bytes` bytes of the text are shown; "…" marks a cut.
std::string printable(std::string_view text, size_t max_bytes = 200);

/// The length of the UTF-8 character at the front of `text` (1 to 4 bytes), 0 if it is not valid: stray, cut,
/// overlong, a surrogate, or above U+10FFFF.
size_t utf8_length(std::string_view text);

}  // namespace minfer::gguf
