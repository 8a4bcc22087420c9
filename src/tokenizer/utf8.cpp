#include "tokenizer/utf8.h"

#include <cstdint>

namespace minfer::utf8 {
namespace {

/// Bytes that may follow a lead byte: how many, and the range of the first of them (The Unicode Standard,
/// table 3-7). It is narrower than 80..BF where a wider one would allow overlong forms, surrogates or
/// code points past U+10FFFF.
struct Lead {
  size_t continuation;  ///< 0: not a lead byte of a multi-byte character
  uint8_t low = 0x80, high = 0xBF;
};

Lead lead(uint8_t byte) {
  if (byte >= 0xC2 && byte <= 0xDF) return {1};
  if (byte == 0xE0) return {2, 0xA0, 0xBF};
  if (byte == 0xED) return {2, 0x80, 0x9F};
  if (byte >= 0xE1 && byte <= 0xEF) return {2};
  if (byte == 0xF0) return {3, 0x90, 0xBF};
  if (byte >= 0xF1 && byte <= 0xF3) return {3};
  if (byte == 0xF4) return {3, 0x80, 0x8F};
  return {0};
}

}  // namespace

Step next(std::string_view bytes) {
  const uint8_t first = uint8_t(bytes[0]);
  if (first < 0x80) return {Kind::character, 1};
  Lead allowed = lead(first);
  if (allowed.continuation == 0) return {Kind::invalid, 1};
  for (size_t i = 1; i <= allowed.continuation; ++i) {
    if (i == bytes.size()) return {Kind::incomplete, i};
    const uint8_t byte = uint8_t(bytes[i]);
    if (byte < allowed.low || byte > allowed.high) return {Kind::invalid, i};
    allowed.low = 0x80;
    allowed.high = 0xBF;
  }
  return {Kind::character, 1 + allowed.continuation};
}

size_t valid_prefix(std::string_view bytes) {
  size_t length = 0;
  while (length < bytes.size()) {
    const Step step = next(bytes.substr(length));
    if (step.kind != Kind::character) break;
    length += step.length;
  }
  return length;
}

}  // namespace minfer::utf8
