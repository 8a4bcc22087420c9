#pragma once
#include <string>

namespace minfer::chat::jinja::unicode {

// What Python's str methods ask of a character.

bool is_space(char32_t c);      ///< str.isspace, and what strip() and split() go by
bool is_printable(char32_t c);  ///< str.isprintable
bool is_alpha(char32_t c);
bool is_decimal(char32_t c);
bool is_digit(char32_t c);    ///< decimals and superscript digits
bool is_numeric(char32_t c);  ///< also fractions, Roman numerals
bool is_lower(char32_t c);
bool is_upper(char32_t c);
bool is_title(char32_t c);
bool is_cased(char32_t c);
bool is_identifier_start(char32_t c);
bool is_identifier_part(char32_t c);
bool ends_line(char32_t c);  ///< str.splitlines

// Full case mappings: one character may become up to three.

std::u32string upper(char32_t c);
std::u32string lower(char32_t c);
std::u32string title(char32_t c);
std::u32string fold(char32_t c);
/// Skipped over when looking for what a final sigma stands after: Case_Ignorable.
bool is_case_ignorable(char32_t c);

}  // namespace minfer::chat::jinja::unicode
