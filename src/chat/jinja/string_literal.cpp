#include "chat/jinja/string_literal.h"

#include <fmt/format.h>

#include "chat/jinja/text.h"

namespace minfer::chat::jinja {
namespace {

int digit_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f') return (c | 0x20) - 'a' + 10;
  return 99;
}

/// The number that `count` digits at `at` write; nothing if there are fewer.
std::optional<char32_t> read_digits(std::string_view text, size_t at, size_t count) {
  char32_t value = 0;
  for (size_t i = at; i < at + count; ++i) {
    if (i >= text.size() || digit_value(text[i]) >= 16) return std::nullopt;
    value = value * 16 + char32_t(digit_value(text[i]));
  }
  return value;
}

/// One to three octal digits at `at`, which is moved past them.
char32_t read_octal(std::string_view text, size_t& at) {
  char32_t value = 0;
  for (size_t i = 0; i < 3 && at < text.size() && digit_value(text[at]) < 8; ++i)
    value = value * 8 + char32_t(digit_value(text[at++]));
  return value;
}

std::string_view simple_escape(char c) {
  switch (c) {
    case '\n':
      return "";  // the line goes on
    case '\\':
      return "\\";
    case '\'':
      return "'";
    case '"':
      return "\"";
    case 'a':
      return "\a";
    case 'b':
      return "\b";
    case 'f':
      return "\f";
    case 'n':
      return "\n";
    case 'r':
      return "\r";
    case 't':
      return "\t";
    case 'v':
      return "\v";
    default:
      return "?";
  }
}

/// A backslash before a character beyond ASCII: the codec sees the character as an escape of its own, whose
/// backslash the first one takes.
std::string swallowed_escape(char32_t c) {
  if (c < 0x100) return fmt::format("\\x{:02x}", uint32_t(c));
  if (c < 0x10000) return fmt::format("\\u{:04x}", uint32_t(c));
  return fmt::format("\\U{:08x}", uint32_t(c));
}

}  // namespace

std::optional<std::string> unescape(std::string_view text, std::string& error) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    if (text[at] != '\\') {
      result += text[at++];
      continue;
    }
    const char c = text[++at];  // the lexer leaves no lone backslash at the end
    if (uint8_t(c) >= 0x80) {
      result += swallowed_escape(code_point(text, at));
      at += char_bytes(c);
      continue;
    }
    if (const std::string_view simple = simple_escape(c); simple != "?") {
      result += simple;
      ++at;
    } else if (c >= '0' && c <= '7') {
      append_utf8(result, read_octal(text, at));
    } else if (c == 'x' || c == 'u' || c == 'U') {
      const size_t count = c == 'x' ? 2 : c == 'u' ? 4 : 8;
      const auto value = read_digits(text, at + 1, count);
      if (!value || *value > 0x10FFFF || (*value >= 0xD800 && *value < 0xE000)) {
        error = fmt::format("\\{} must be followed by {} hexadecimal digits that are a character", c, count);
        return std::nullopt;
      }
      append_utf8(result, *value);
      at += 1 + count;
    } else if (c == 'N') {
      error = "characters by name (\\N) are not supported";
      return std::nullopt;
    } else {
      result += {'\\', c};
      ++at;
    }
  }
  return result;
}

}  // namespace minfer::chat::jinja
