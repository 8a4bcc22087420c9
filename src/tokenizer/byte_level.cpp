#include "tokenizer/byte_level.h"

#include <array>

namespace minfer::byte_level {
namespace {

constexpr bool stands_for_itself(int byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || (byte >= 0xAE && byte <= 0xFF);
}

constexpr int first_extra = 0x100;  ///< code point of the first byte that does not stand for itself
constexpr int extras = 68;
constexpr int code_points = first_extra + extras;

struct Alphabet {
  std::array<std::array<char, 2>, 256> utf8{};  ///< of each byte's stand-in
  std::array<uint8_t, 256> length{};
  std::array<int16_t, code_points> byte{};  ///< of each code point, -1 if none
};

constexpr Alphabet make_alphabet() {
  Alphabet a;
  for (int16_t& byte : a.byte) byte = -1;
  int extra = first_extra;
  for (int byte = 0; byte < 256; ++byte) {
    const int code_point = stands_for_itself(byte) ? byte : extra++;
    a.byte[size_t(code_point)] = int16_t(byte);
    if (code_point < 0x80) {
      a.utf8[size_t(byte)] = {char(code_point), 0};
      a.length[size_t(byte)] = 1;
    } else {  // below U+0800: two bytes
      a.utf8[size_t(byte)] = {char(0xC0 | code_point >> 6), char(0x80 | (code_point & 0x3F))};
      a.length[size_t(byte)] = 2;
    }
  }
  return a;
}
constexpr Alphabet alphabet = make_alphabet();

/// How many bytes at the front are printable ASCII, which stands for itself: most of a vocabulary.
size_t plain_prefix(std::string_view text) {
  size_t length = 0;
  while (length < text.size() && text[length] >= 0x21 && text[length] <= 0x7E) ++length;
  return length;
}

}  // namespace

std::string_view stand_in(uint8_t byte) { return {alphabet.utf8[byte].data(), alphabet.length[byte]}; }

bool append_bytes(std::string_view text, std::string& out) {
  const size_t before = out.size();
  for (size_t i = 0; i < text.size();) {
    const size_t plain = plain_prefix(text.substr(i));
    out.append(text, i, plain);
    i += plain;
    if (i == text.size()) break;
    // Every other stand-in has two bytes; lead bytes C2 to C5.
    const uint8_t first = uint8_t(text[i]), second = i + 1 < text.size() ? uint8_t(text[i + 1]) : 0;
    const bool two_bytes = first >= 0xC2 && first <= 0xC5 && (second & 0xC0) == 0x80;
    const int code_point = two_bytes ? (first & 0x1F) << 6 | (second & 0x3F) : code_points;
    if (code_point >= code_points || alphabet.byte[size_t(code_point)] < 0) {
      out.resize(before);
      return false;
    }
    out += char(alphabet.byte[size_t(code_point)]);
    i += 2;
  }
  return true;
}

}  // namespace minfer::byte_level
