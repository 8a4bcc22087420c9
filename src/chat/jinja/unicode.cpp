#include "chat/jinja/unicode.h"

#include <utf8proc.h>

#include <algorithm>
#include <iterator>
#include <memory>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/error.h"
#include "chat/jinja/special_casing.h"
#include "chat/jinja/text.h"

namespace minfer::chat::jinja::unicode {
namespace {

/// A set of characters as a pattern of one character class. PCRE2 has the newer tables (Unicode 14 in Debian
/// 12, as Python 3.11; utf8proc there has 9), so it answers what a character is, and utf8proc only its case.
class CharSet {
 public:
  explicit CharSet(std::string_view pattern) {
    int error = 0;
    size_t offset = 0;
    code_.reset(pcre2_compile_8(reinterpret_cast<PCRE2_SPTR8>(pattern.data()), pattern.size(),
                                PCRE2_UTF | PCRE2_UCP | PCRE2_ANCHORED, &error, &offset, nullptr));
    MINFER_CHECK(code_, "a character class does not compile");
  }

  bool has(char32_t c) const {
    thread_local const std::unique_ptr<pcre2_match_data_8, void (*)(pcre2_match_data_8*)> data(
        pcre2_match_data_create_8(1, nullptr), pcre2_match_data_free_8);
    if (!data) throw Error(ErrorCode::out_of_memory, "chat template: no memory for match data");
    std::string text;
    append_utf8(text, c);
    return pcre2_match_8(code_.get(), reinterpret_cast<PCRE2_SPTR8>(text.data()), text.size(), 0,
                         PCRE2_NO_UTF_CHECK, data.get(), nullptr) > 0;
  }

 private:
  struct Free {
    void operator()(pcre2_code_8* code) const { pcre2_code_free_8(code); }
  };
  std::unique_ptr<pcre2_code_8, Free> code_;
};

const SpecialCasing* special_casing(char32_t c) {
  const auto* at =
      std::lower_bound(std::begin(special_casings), std::end(special_casings), c,
                       [](const SpecialCasing& row, char32_t value) { return row.character < value; });
  return at != std::end(special_casings) && at->character == c ? at : nullptr;
}

std::u32string without_padding(const char32_t (&characters)[3]) {
  std::u32string text;
  for (const char32_t c : characters)
    if (c != 0) text += c;
  return text;
}

}  // namespace

bool is_space(char32_t c) {
  if (c < 0x80) return (c >= 9 && c <= 13) || (c >= 28 && c <= 32);
  return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 ||
         c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

bool is_printable(char32_t c) {
  if (c < 0x7F) return c >= 0x20;
  static const CharSet not_printable("[\\p{C}\\p{Z}]");
  return !not_printable.has(c);
}

bool is_alpha(char32_t c) {
  if (c < 0x80) return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
  static const CharSet letters("\\p{L}");
  return letters.has(c);
}

bool is_decimal(char32_t c) {
  if (c < 0x80) return c >= '0' && c <= '9';
  static const CharSet decimals("\\p{Nd}");
  return decimals.has(c);
}

bool is_digit(char32_t c) {
  if (is_decimal(c)) return true;
  static const CharSet digits(
      "[\\x{B2}\\x{B3}\\x{B9}\\x{1369}-\\x{1371}\\x{19DA}\\x{2070}\\x{2074}-\\x{2079}\\x{2080}-\\x{2089}"
      "\\x{2460}-\\x{2468}\\x{2474}-\\x{247C}\\x{2488}-\\x{2490}\\x{24EA}\\x{24F5}-\\x{24FD}\\x{24FF}"
      "\\x{2776}-\\x{277E}\\x{2780}-\\x{2788}\\x{278A}-\\x{2792}\\x{10A40}-\\x{10A43}\\x{10E60}-\\x{10E68}"
      "\\x{11052}-\\x{1105A}\\x{1F100}-\\x{1F10A}]");
  return c >= 0x80 && digits.has(c);
}

bool is_numeric(char32_t c) {
  if (c < 0x80) return is_decimal(c);
  static const CharSet numbers("\\p{N}");
  return numbers.has(c);
}

bool is_lower(char32_t c) {
  if (c < 0x80) return c >= 'a' && c <= 'z';
  // Other_Lowercase beside the category: ordinal indicators, modifier letters, circled letters.
  static const CharSet lower_case(
      "[\\p{Ll}\\x{AA}\\x{BA}\\x{2B0}-\\x{2B8}\\x{2C0}\\x{2C1}\\x{2E0}-\\x{2E4}\\x{345}\\x{37A}"
      "\\x{1D2C}-\\x{1D6A}\\x{1D78}\\x{1D9B}-\\x{1DBF}\\x{2071}\\x{207F}\\x{2090}-\\x{209C}"
      "\\x{2170}-\\x{217F}\\x{24D0}-\\x{24E9}\\x{2C7C}\\x{2C7D}\\x{A69C}\\x{A69D}\\x{A770}\\x{A7F8}\\x{A7F9}"
      "\\x{AB5C}-\\x{AB5F}]");
  return lower_case.has(c);
}

bool is_upper(char32_t c) {
  if (c < 0x80) return c >= 'A' && c <= 'Z';
  static const CharSet upper_case(
      "[\\p{Lu}\\x{2160}-\\x{216F}\\x{24B6}-\\x{24CF}\\x{1F130}-\\x{1F149}\\x{1F150}-\\x{1F169}"
      "\\x{1F170}-\\x{1F189}]");
  return upper_case.has(c);
}

bool is_title(char32_t c) {
  static const CharSet title_case("\\p{Lt}");
  return c >= 0x80 && title_case.has(c);
}

bool is_cased(char32_t c) { return is_lower(c) || is_upper(c) || is_title(c); }

bool is_identifier_start(char32_t c) {
  if (c < 0x80) return c == '_' || is_alpha(c);
  static const CharSet starts("[\\p{L}\\p{Nl}]");
  return starts.has(c);
}

bool is_identifier_part(char32_t c) {
  if (c < 0x80) return is_identifier_start(c) || is_decimal(c);
  static const CharSet parts("[\\p{L}\\p{Nl}\\p{Mn}\\p{Mc}\\p{Nd}\\p{Pc}\\x{B7}]");
  return parts.has(c);
}

bool is_case_ignorable(char32_t c) {
  static const CharSet ignorable(
      "[\\p{Mn}\\p{Me}\\p{Cf}\\p{Lm}\\p{Sk}'.:\\x{B7}\\x{2018}\\x{2019}\\x{2024}\\x{2027}]");
  return ignorable.has(c);
}

bool ends_line(char32_t c) {
  return (c >= 0x0A && c <= 0x0D) || (c >= 0x1C && c <= 0x1E) || c == 0x85 || c == 0x2028 || c == 0x2029;
}

std::u32string upper(char32_t c) {
  if (c < 0x80) return std::u32string(1, c >= 'a' && c <= 'z' ? c - 32 : c);
  if (const SpecialCasing* row = special_casing(c)) return without_padding(row->upper);
  return std::u32string(1, char32_t(utf8proc_toupper(utf8proc_int32_t(c))));
}

std::u32string title(char32_t c) {
  if (c < 0x80) return upper(c);
  if (const SpecialCasing* row = special_casing(c)) return without_padding(row->title);
  return std::u32string(1, char32_t(utf8proc_totitle(utf8proc_int32_t(c))));
}

std::u32string lower(char32_t c) {
  if (c < 0x80) return std::u32string(1, c >= 'A' && c <= 'Z' ? c + 32 : c);
  if (c == 0x130) return U"i\u0307";  // the one character whose lowercase is two
  return std::u32string(1, char32_t(utf8proc_tolower(utf8proc_int32_t(c))));
}

std::u32string fold(char32_t c) {
  if (c < 0x80) return lower(c);
  utf8proc_int32_t folded[8];
  int boundary = 0;
  const auto count = utf8proc_decompose_char(utf8proc_int32_t(c), folded, 8, UTF8PROC_CASEFOLD, &boundary);
  if (count < 1 || count > 8) return std::u32string(1, c);
  return std::u32string(folded, folded + count);
}

}  // namespace minfer::chat::jinja::unicode
