#include "chat/jinja/strings.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "chat/jinja/print.h"
#include "chat/jinja/runtime.h"
#include "chat/jinja/unicode.h"

namespace minfer::chat::jinja::strings {
namespace {

/// Whether a sigma at `at` ends a word: a cased letter before it, none after it.
bool is_final_sigma(std::string_view text, size_t at) {
  size_t before = at;
  while (before > 0) {
    before = previous_char(text, before);
    const char32_t c = code_point(text, before);
    if (unicode::is_case_ignorable(c)) {
      if (before == 0) return false;
      continue;
    }
    if (!unicode::is_cased(c)) return false;
    break;
  }
  if (at == 0) return false;
  for (size_t after = at + char_bytes(text[at]); after < text.size(); after += char_bytes(text[after])) {
    const char32_t c = code_point(text, after);
    if (!unicode::is_case_ignorable(c)) return !unicode::is_cased(c);
  }
  return true;
}

std::u32string lower_at(std::string_view text, size_t at) {
  const char32_t c = code_point(text, at);
  constexpr char32_t sigma = 0x3A3, final_sigma = 0x3C2;
  if (c == sigma && is_final_sigma(text, at)) return std::u32string(1, final_sigma);
  return unicode::lower(c);
}

char ascii_cased(char c, Case wanted, bool in_word, bool is_first) {
  const bool is_lower = c >= 'a' && c <= 'z', is_upper = c >= 'A' && c <= 'Z';
  bool to_upper = false;
  switch (wanted) {
    case Case::upper:
      to_upper = true;
      break;
    case Case::lower:
    case Case::fold:
      break;
    case Case::title:
      to_upper = !in_word;
      break;
    case Case::capitalize:
      to_upper = is_first;
      break;
    case Case::swap:
      to_upper = is_lower;
      break;
  }
  if (to_upper) return is_lower ? char(c - 32) : c;
  return is_upper ? char(c + 32) : c;
}

/// `in_word`: a cased letter stands before.
std::u32string cased(std::string_view text, size_t at, Case wanted, bool in_word) {
  const char32_t c = code_point(text, at);
  switch (wanted) {
    case Case::upper:
      return unicode::upper(c);
    case Case::lower:
      return lower_at(text, at);
    case Case::title:
      return in_word ? lower_at(text, at) : unicode::title(c);
    case Case::capitalize:
      return at > 0 ? lower_at(text, at) : unicode::title(c);
    case Case::swap:
      return unicode::is_upper(c)   ? lower_at(text, at)
             : unicode::is_lower(c) ? unicode::upper(c)
                                    : std::u32string(1, c);
    case Case::fold:
      return unicode::fold(c);
  }
  return {};
}

bool is_stripped(Runtime& runtime, std::string_view text, size_t at, const Str* characters) {
  if (!characters) return unicode::is_space(code_point(text, at));
  runtime.step(1 + characters->bytes.size() / 32);
  return characters->bytes.find(text.substr(at, char_bytes(text[at]))) != std::string::npos;
}

size_t skip_blanks(std::string_view text, size_t at) {
  while (at < text.size() && unicode::is_space(code_point(text, at))) at += char_bytes(text[at]);
  return at;
}

size_t skip_word(std::string_view text, size_t at) {
  while (at < text.size() && !unicode::is_space(code_point(text, at))) at += char_bytes(text[at]);
  return at;
}

size_t skip_blanks_back(std::string_view text, size_t at) {
  while (at > 0 && unicode::is_space(code_point(text, previous_char(text, at)))) at = previous_char(text, at);
  return at;
}

size_t skip_word_back(std::string_view text, size_t at) {
  while (at > 0 && !unicode::is_space(code_point(text, previous_char(text, at))))
    at = previous_char(text, at);
  return at;
}

Items split_blanks(Runtime& runtime, const Str& str, int64_t limit) {
  runtime.step(str.bytes.size() / 16);
  Items items(runtime);
  const std::string& text = str.bytes;
  size_t at = skip_blanks(text, 0);
  for (int64_t splits = 0; at < text.size(); ++splits) {
    if (limit >= 0 && splits == limit) {
      items.add(part(runtime, str, at, skip_blanks_back(text, text.size())));
      break;
    }
    const size_t end = skip_word(text, at);
    items.add(part(runtime, str, at, end));
    at = skip_blanks(text, end);
  }
  return items;
}

Items in_reverse(Runtime& runtime, Items items) {
  Items result(runtime);
  for (size_t i = items.size(); i > 0; --i) result.add(items[i - 1]);
  return result;
}

/// ASCII digits of a number as Python reads it: without single underscores between digits, in ASCII. Empty if
/// an underscore stands elsewhere.
std::string plain_number(std::string_view text) {
  size_t begin = 0, end = text.size();
  begin = skip_blanks(text, 0);
  end = std::max(begin, skip_blanks_back(text, end));
  std::string result;
  for (size_t i = begin; i < end; ++i) {
    if (text[i] != '_') {
      result += text[i];
      continue;
    }
    const auto is_alnum = [&](size_t at) {
      return at > begin && at < end && std::isalnum(uint8_t(text[at]));
    };
    if (i == begin || i + 1 >= end || !std::isalnum(uint8_t(text[i - 1])) || !is_alnum(i + 1)) return {};
  }
  return result;
}

}  // namespace

StrPtr part(Runtime& runtime, const Str& str, size_t begin, size_t end) {
  TextBuilder out(runtime);
  out.append(str, begin, std::max(begin, end));
  return out.finish(str.markup);
}

StrPtr change_case(Runtime& runtime, const Str& str, Case wanted) {
  TextBuilder out(runtime);
  bool in_word = false;
  std::string changed;
  runtime.step(str.bytes.size() / 8);
  for_each_run(str, 0, str.bytes.size(), [&](size_t begin, size_t end, bool trusted) {
    for (size_t at = begin; at < end; at += char_bytes(str.bytes[at])) {
      const char byte = str.bytes[at];
      if (uint8_t(byte) < 0x80) {
        changed += ascii_cased(byte, wanted, in_word, at == 0);
        in_word = unicode::is_cased(char32_t(byte));
      } else {
        runtime.step();
        for (const char32_t c : cased(str.bytes, at, wanted, in_word)) append_utf8(changed, c);
        in_word = unicode::is_cased(code_point(str.bytes, at));
      }
      if (changed.size() < 4096) continue;
      out.append(changed, trusted);
      changed.clear();
    }
    out.append(changed, trusted);
    changed.clear();
  });
  return out.finish(str.markup);
}

StrPtr strip(Runtime& runtime, const Str& str, const Str* characters, Side side) {
  const std::string& text = str.bytes;
  size_t begin = 0, end = text.size();
  if (side & Side::left)
    while (begin < end && is_stripped(runtime, text, begin, characters)) begin += char_bytes(text[begin]);
  if (side & Side::right)
    while (end > begin && is_stripped(runtime, text, previous_char(text, end), characters))
      end = previous_char(text, end);
  runtime.step((begin + text.size() - end) / 16);
  return part(runtime, str, begin, end);
}

Items split(Runtime& runtime, const Str& str, const Str* separator, int64_t limit) {
  if (!separator) return split_blanks(runtime, str, limit);
  if (separator->bytes.empty()) runtime.fail("empty separator");
  runtime.step(str.bytes.size() / 32);
  Items items(runtime);
  size_t begin = 0;
  for (int64_t splits = 0; limit < 0 || splits < limit; ++splits) {
    const size_t at = find_text(str.bytes, separator->bytes, begin);
    if (at == std::string::npos) break;
    items.add(part(runtime, str, begin, at));
    begin = at + separator->bytes.size();
  }
  items.add(part(runtime, str, begin, str.bytes.size()));
  return items;
}

Items split_from_right(Runtime& runtime, const Str& str, const Str* separator, int64_t limit) {
  if (separator && separator->bytes.empty()) runtime.fail("empty separator");
  runtime.step(str.bytes.size() / 16);
  Items items(runtime);
  const std::string_view text(str.bytes);
  if (separator) {
    size_t end = text.size();
    for (int64_t splits = 0; limit < 0 || splits < limit; ++splits) {
      runtime.step(end / 64);
      const size_t at = rfind_text(text.substr(0, end), separator->bytes);
      if (at == text.npos) break;
      items.add(part(runtime, str, at + separator->bytes.size(), end));
      end = at;
    }
    items.add(part(runtime, str, 0, end));
  } else {
    size_t end = skip_blanks_back(text, text.size());
    for (int64_t splits = 0; end > 0; ++splits) {
      const bool last = limit >= 0 && splits == limit;
      const size_t begin = last ? skip_blanks(text, 0) : skip_word_back(text, end);
      items.add(part(runtime, str, begin, end));
      if (last) break;
      end = skip_blanks_back(text, begin);
    }
  }
  return in_reverse(runtime, std::move(items));
}

Items split_lines(Runtime& runtime, const Str& str, bool keep_ends) {
  runtime.step(str.bytes.size() / 16);
  Items items(runtime);
  const std::string& text = str.bytes;
  size_t begin = 0;
  for (size_t at = 0; at < text.size();) {
    const char32_t c = code_point(text, at);
    const size_t line_end = at;
    at += char_bytes(text[at]);
    if (!unicode::ends_line(c)) continue;
    if (c == '\r' && at < text.size() && text[at] == '\n') ++at;
    items.add(part(runtime, str, begin, keep_ends ? at : line_end));
    begin = at;
  }
  if (begin < text.size()) items.add(part(runtime, str, begin, text.size()));
  return items;
}

StrPtr replace(Runtime& runtime, const Str& str, const Str& from, const Str& to, int64_t limit) {
  TextBuilder out(runtime);
  const std::string& text = str.bytes;
  size_t copied = 0;
  runtime.step(text.size() / 32);
  for (int64_t count = 0; limit < 0 || count < limit; ++count) {
    size_t at = 0;
    if (from.bytes.empty()) {
      // Before the first character, between all, and after the last.
      if (count > 0 && copied >= text.size()) break;
      at = count == 0 ? 0 : copied + char_bytes(text[copied]);
    } else {
      at = find_text(text, from.bytes, copied);
      if (at == std::string::npos) break;
    }
    runtime.step();
    out.append(str, copied, at);
    out.append(to);
    copied = at + from.bytes.size();
  }
  out.append(str, copied, text.size());
  return out.finish(str.markup);
}

StrPtr join(Runtime& runtime, const Str& separator, const Items& items) {
  TextBuilder out(runtime);
  for (size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out.append(separator);
    print(out, runtime, items[i]);
  }
  return out.finish(separator.markup);
}

std::optional<int64_t> to_integer(const Runtime& runtime, std::string_view text, int64_t base) {
  std::string digits = plain_number(text);
  const bool negative = digits.starts_with('-');
  if (negative || digits.starts_with('+')) digits.erase(0, 1);
  if (digits.size() > 2 && digits[0] == '0') {
    const char prefix = char(digits[1] | 0x20);
    const int64_t named = prefix == 'x' ? 16 : prefix == 'o' ? 8 : prefix == 'b' ? 2 : 0;
    if (named != 0 && (base == named || base == 0)) {
      base = named;
      digits.erase(0, 2);
    }
  }
  if (base == 0) base = 10;
  if (base < 2 || base > 36 || digits.empty() || digits[0] == '-') return std::nullopt;
  if (negative) digits.insert(0, 1, '-');
  int64_t value = 0;
  const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, int(base));
  if (stop != digits.data() + digits.size()) return std::nullopt;
  if (error == std::errc::result_out_of_range) runtime.fail("a whole number does not fit 64 bits");
  return value;
}

std::optional<double> to_float(std::string_view text) {
  std::string number = plain_number(text);
  const bool negative = number.starts_with('-');
  if (negative || number.starts_with('+')) number.erase(0, 1);
  std::string lower = number;
  std::transform(lower.begin(), lower.end(), lower.begin(), ::tolower);
  double value = 0;
  if (lower == "inf" || lower == "infinity") {
    value = std::numeric_limits<double>::infinity();
  } else if (lower == "nan") {
    value = std::numeric_limits<double>::quiet_NaN();
  } else {
    const bool plain = !number.empty() && number.find_first_not_of("0123456789.eE+-") == number.npos;
    if (!plain || number[0] == '-' || number[0] == '+') return std::nullopt;
    const auto [stop, error] = std::from_chars(number.data(), number.data() + number.size(), value);
    if (stop != number.data() + number.size()) return std::nullopt;
    if (error != std::errc()) value = std::strtod(number.c_str(), nullptr);
  }
  return negative ? -value : value;
}

}  // namespace minfer::chat::jinja::strings
