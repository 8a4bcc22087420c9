#include "gguf/printable.h"

#include <fmt/format.h>

#include <cstdint>

namespace minfer::gguf {
namespace {

uint32_t code_point(std::string_view character) {
  constexpr uint32_t first_byte_mask[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
  uint32_t code = uint8_t(character[0]) & first_byte_mask[character.size()];
  for (char c : character.substr(1)) code = code << 6 | (uint8_t(c) & 0x3fu);
  return code;
}

bool disturbs_a_line(uint32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0x2028 && code <= 0x202e) ||
         (code >= 0x2066 && code <= 0x2069);
}

void append_escaped(std::string& out, std::string_view bytes) {
  if (bytes == "\n") {
    out += "\\n";
  } else if (bytes == "\t") {
    out += "\\t";
  } else if (bytes == "\r") {
    out += "\\r";
  } else {
    for (char c : bytes) out += fmt::format("\\x{:02x}", uint8_t(c));
  }
}

}  // namespace

size_t utf8_length(std::string_view text) {
  if (text.empty()) return 0;
  const auto first = uint8_t(text[0]);
  if (first < 0x80) return 1;
  const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i)
    if ((uint8_t(text[i]) & 0xc0) != 0x80) return 0;
  const uint32_t code = code_point(text.substr(0, length));
  const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  return overlong || surrogate || code > 0x10ffff ? 0 : length;
}

std::string printable(std::string_view text, size_t max_bytes) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t length = utf8_length(text.substr(at));
    const std::string_view character = text.substr(at, length ? length : 1);
    if (at + character.size() > max_bytes) return out + "…";
    at += character.size();
    if (character == "\\") {
      out += "\\\\";
    } else if (length == 0 || disturbs_a_line(code_point(character))) {
      append_escaped(out, character);
    } else {
      out += character;
    }
  }
  return out;
}

}  // namespace minfer::gguf
