#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "chat/jinja/format.h"
#include "chat/jinja/runtime.h"

namespace minfer::chat::jinja {

void append_padded(TextBuilder& out, const Str& text, int64_t width, char align, std::string_view fill) {
  const int64_t missing = std::max<int64_t>(0, width - int64_t(text.length()));
  const bool has_sign =
      text.bytes.starts_with('-') || text.bytes.starts_with('+') || text.bytes.starts_with(' ');
  const size_t head = align == '=' && has_sign ? 1 : 0;
  const int64_t left = align == '<' ? 0 : align == '^' ? missing / 2 : missing;
  const Str filler{std::string(fill)};
  out.append(text, 0, head);
  out.repeat(filler, left);
  out.append(text, head, text.bytes.size());
  out.repeat(filler, missing - left);
}

std::string format_float(Runtime& runtime, double number, char type, int64_t precision, bool alternate) {
  if (!std::isfinite(number)) {
    std::string text = std::isnan(number) ? "nan" : number < 0 ? "-inf" : "inf";
    if (type >= 'A' && type <= 'Z') std::transform(text.begin(), text.end(), text.begin(), ::toupper);
    return text;
  }
  constexpr int64_t most_digits = 100'000;
  if (precision > most_digits)
    runtime.fail_limit(fmt::format("a number of more than {} digits", most_digits));
  runtime.step(size_t(std::max<int64_t>(precision, 0)) / 8);
  const std::string pattern =
      fmt::format("%{}.{}{}", alternate ? "#" : "", std::max<int64_t>(precision, 0), type);
  std::string text(size_t(std::snprintf(nullptr, 0, pattern.c_str(), number)), '\0');
  std::snprintf(text.data(), text.size() + 1, pattern.c_str(), number);
  return text;
}

std::string format_integer(int64_t number, int base) {
  char buffer[72];
  return std::string(buffer, std::to_chars(buffer, buffer + sizeof buffer, number, base).ptr);
}

}  // namespace minfer::chat::jinja
