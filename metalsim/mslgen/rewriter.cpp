#include "rewriter.h"

#include <algorithm>

namespace metalsim::mslgen {

std::string Rewriter::result() {
  std::stable_sort(edits_.begin(), edits_.end(),
                   [](const Edit& a, const Edit& b) { return a.begin < b.begin; });
  const std::string& text = unit_.source.text();
  std::string out;
  size_t at = 0;
  for (const Edit& edit : edits_) {
    if (edit.begin < at) continue;
    out.append(text, at, edit.begin - at);
    out += edit.by;
    for (size_t i = edit.begin; i < edit.end; ++i)
      if (text[i] == '\n') out += '\n';
    at = edit.end;
  }
  out.append(text, at, std::string::npos);
  return out;
}

std::string quoted(const std::string& value) {
  std::string literal = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') literal += '\\';
    literal += c;
  }
  literal += '"';
  return literal;
}

std::optional<std::string> metal_number(std::string_view text) {
  const bool hexadecimal = text.size() > 1 && (text[1] == 'x' || text[1] == 'X');
  const bool has_exponent = text.find_first_of(hexadecimal ? "pP" : "eE") != text.npos;
  const auto ends = [&](std::string_view suffix) {
    return text.size() > suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
  };
  const auto without = [&](size_t count) { return std::string(text.substr(0, text.size() - count)); };
  if (hexadecimal && !has_exponent) return std::nullopt;
  if (ends("bf") || ends("BF")) return "bfloat(" + without(2) + "f)";
  if (ends("h") || ends("H")) return without(1) + "f16";
  const bool floating = has_exponent || text.find('.') != text.npos;
  if (floating && (is_digit(text.back()) || text.back() == '.')) return std::string(text) + "f";
  return std::nullopt;
}

}  // namespace metalsim::mslgen
