#include "chat/jinja/lexer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "chat/jinja/print.h"
#include "chat/jinja/string_literal.h"
#include "chat/jinja/unicode.h"

namespace minfer::chat::jinja {
namespace {

constexpr std::array<std::string_view, 24> operators = {"**", "//", "==", "!=", ">=", "<=", "+", "-",
                                                        "/",  "*",  "%",  "~",  "[",  "]",  "(", ")",
                                                        "{",  "}",  ">",  "<",  "=",  ".",  ":", "|"};
constexpr std::array<std::string_view, 2> more_operators = {",", ";"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(source) {}

  std::vector<Token> run() {
    while (at_ < source_.size()) read_data();
    add(TokenKind::end, source_.size());
    return std::move(tokens_);
  }

 private:
  [[noreturn]] void fail(size_t at, const std::string& message) const {
    fail_at(source_, Position(at), message);
  }

  Token& add(TokenKind kind, size_t at, std::string text = {}) {
    tokens_.push_back({kind, Position(at), std::move(text)});
    return tokens_.back();
  }

  bool starts_with(std::string_view text) const { return source_.substr(at_).starts_with(text); }

  char look(size_t ahead) const { return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0'; }

  size_t skip_space(size_t at) const {
    while (at < source_.size() && unicode::is_space(code_point(source_, at))) at += char_bytes(source_[at]);
    return at;
  }

  /// Text up to the next tag, and the tag.
  void read_data() {
    const size_t begin = at_;
    size_t tag = begin;
    while ((tag = source_.find('{', tag)) != source_.npos) {
      const char kind = tag + 1 < source_.size() ? source_[tag + 1] : '\0';
      if (kind == '%' || kind == '{' || kind == '#') break;
      ++tag;
    }
    if (tag == source_.npos) {
      add_data(begin, source_.substr(begin));
      at_ = source_.size();
      return;
    }
    at_ = tag + 2;
    const char sign = look(0) == '-' || look(0) == '+' ? source_[at_++] : '\0';
    const bool is_output = source_[tag + 1] == '{';
    add_data(begin, trim_before_tag(source_.substr(begin, tag - begin), sign, is_output));
    if (is_output) {
      add(TokenKind::output_begin, tag);
      read_tag(TokenKind::output_end);
    } else if (source_[tag + 1] == '#') {
      skip_comment(tag);
    } else if (const auto after = raw_begin()) {
      at_ = *after;
      read_raw(tag);
    } else {
      add(TokenKind::block_begin, tag);
      read_tag(TokenKind::block_end);
    }
  }

  void add_data(size_t at, std::string_view text) {
    if (!text.empty()) add(TokenKind::data, at, std::string(text));
  }

  /// What stays of the text before a tag: `-` takes all blanks; else blanks between the line's start and a
  /// block or comment go, unless there is a `+`.
  std::string_view trim_before_tag(std::string_view text, char sign, bool is_output) const {
    if (sign == '-') {
      while (!text.empty()) {
        const size_t last = previous_char(text, text.size());
        if (!unicode::is_space(code_point(text, last))) break;
        text = text.substr(0, last);
      }
      return text;
    }
    if (sign == '+' || is_output) return text;
    const size_t newline = text.rfind('\n');
    const size_t line = newline == text.npos ? 0 : newline + 1;
    if (line == 0 && !line_starting_) return text;
    for (size_t i = line; i < text.size(); i += char_bytes(text[i]))
      if (!unicode::is_space(code_point(text, i))) return text;
    return text.substr(0, line);
  }

  /// After the end of a tag of two characters at `at_`: past the blanks it swallows.
  void end_tag(size_t sign_bytes, bool strips, bool takes_newline) {
    at_ += sign_bytes + 2;
    if (strips) {
      at_ = skip_space(at_);
    } else if (takes_newline && look(0) == '\n') {
      ++at_;
    }
    line_starting_ = source_[at_ - 1] == '\n';
  }

  void skip_comment(size_t tag) {
    const size_t end = source_.find("#}", at_);
    if (end == source_.npos) fail(tag, "this comment has no end: #} is missing");
    const char sign = end > at_ ? source_[end - 1] : '\0';
    at_ = end;
    end_tag(0, sign == '-', sign != '+');
  }

  /// Whether the block at `at_` is `raw %}`: where it ends.
  std::optional<size_t> raw_begin() const {
    size_t at = skip_space(at_);
    if (!source_.substr(at).starts_with("raw")) return std::nullopt;
    at = skip_space(at + 3);
    const bool strips = source_.substr(at).starts_with("-%}");
    if (!strips && !source_.substr(at).starts_with("%}")) return std::nullopt;
    return strips ? skip_space(at + 3) : at + 2;
  }

  /// Everything up to `{% endraw %}` is text.
  void read_raw(size_t tag) {
    const size_t begin = at_;
    line_starting_ = source_[begin - 1] == '\n';
    for (size_t end = begin; (end = source_.find("{%", end)) != source_.npos; end += 2) {
      at_ = end + 2;
      const char sign = look(0) == '-' || look(0) == '+' ? source_[at_++] : '\0';
      at_ = skip_space(at_);
      if (!starts_with("endraw")) continue;
      at_ = skip_space(at_ + 6);
      const char end_sign = look(0) == '-' || look(0) == '+' ? look(0) : '\0';
      if (source_.substr(std::min(at_ + (end_sign != 0), source_.size())).substr(0, 2) != "%}") continue;
      add_data(begin, trim_before_tag(source_.substr(begin, end - begin), sign, false));
      end_tag(end_sign != 0, end_sign == '-', end_sign != '+');
      return;
    }
    fail(tag, "this raw block has no end: {% endraw %} is missing");
  }

  /// The tokens of a tag, up to its end. An end inside brackets is none.
  void read_tag(TokenKind end_kind) {
    const bool is_block = end_kind == TokenKind::block_end;
    const std::string_view close = is_block ? "%}" : "}}";
    std::string open_brackets;
    while (at_ < source_.size()) {
      if (open_brackets.empty()) {
        const bool minus = look(0) == '-' && source_.substr(at_ + 1).starts_with(close);
        const bool plus = is_block && look(0) == '+' && source_.substr(at_ + 1).starts_with(close);
        if (minus || plus || starts_with(close)) {
          add(end_kind, at_);
          return end_tag(minus || plus, minus, is_block && !plus);
        }
      }
      read_token(open_brackets);
    }
    fail(source_.size(), fmt::format("a tag has no end: {} is missing", close));
  }

  void read_token(std::string& open_brackets) {
    const char32_t c = code_point(source_, at_);
    if (unicode::is_space(c)) {
      at_ = skip_space(at_);
    } else if (c < 0x80 && is_digit(char(c))) {
      read_number();
    } else if (unicode::is_identifier_part(c)) {
      read_name();
    } else if (c == '"' || c == '\'') {
      read_string();
    } else {
      read_operator(open_brackets);
    }
  }

  void read_name() {
    const size_t begin = at_;
    if (!unicode::is_identifier_start(code_point(source_, begin)))
      fail(begin, "a name cannot start like this");
    while (at_ < source_.size() && unicode::is_identifier_part(code_point(source_, at_)))
      at_ += char_bytes(source_[at_]);
    add(TokenKind::name, begin, std::string(source_.substr(begin, at_ - begin)));
  }

  /// Digits with single underscores between them; false if there are none.
  template <class IsDigit>
  bool skip_digits(size_t& at, IsDigit is_one) const {
    const auto digit_at = [&](size_t i) { return i < source_.size() && is_one(source_[i]); };
    if (!digit_at(at)) return false;
    while (digit_at(at) || (at < source_.size() && source_[at] == '_' && digit_at(at + 1))) ++at;
    return true;
  }

  void read_number() {
    // After a dot digits are always an index: `a.0.1`.
    const bool after_dot = at_ > 0 && source_[at_ - 1] == '.';
    if (!after_dot && read_float()) return;
    const size_t begin = at_;
    const char prefix = char(look(1) | 0x20);
    const int base = look(0) != '0' ? 10 : prefix == 'x' ? 16 : prefix == 'o' ? 8 : prefix == 'b' ? 2 : 10;
    size_t end = begin;
    if (base != 10) {
      end = begin + 2;
      if (end < source_.size() && source_[end] == '_') ++end;
      const auto is_one = [base](char c) {
        const int digit = is_digit(c)                              ? c - '0'
                          : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10
                                                                   : 99;
        return digit < base;
      };
      if (!skip_digits(end, is_one)) end = begin + 1;
    } else if (look(0) == '0') {
      skip_digits(end, [](char c) { return c == '0'; });  // "0123" is a 0 and then a 123, which is no syntax
    } else {
      skip_digits(end, is_digit);
    }
    add_integer(begin, end, end > begin + 1 && base != 10 ? base : 10);
  }

  void add_integer(size_t begin, size_t end, int base) {
    std::string digits(source_.substr(begin, end - begin));
    std::erase(digits, '_');
    if (base != 10) digits.erase(0, 2);
    int64_t value = 0;
    const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
    if (error != std::errc()) fail(begin, fmt::format("{} does not fit 64 bits", digits));
    add(TokenKind::integer, begin).integer = value;
    at_ = end;
  }

  bool read_float() {
    size_t end = at_;
    skip_digits(end, is_digit);
    bool is_float = false;
    if (end < source_.size() && source_[end] == '.') {
      size_t fraction = end + 1;
      if (skip_digits(fraction, is_digit)) {
        end = fraction;
        is_float = true;
      }
    }
    if (end < source_.size() && (source_[end] | 0x20) == 'e') {
      size_t exponent = end + 1;
      if (exponent < source_.size() && (source_[exponent] == '+' || source_[exponent] == '-')) ++exponent;
      if (skip_digits(exponent, is_digit)) {
        end = exponent;
        is_float = true;
      }
    }
    if (!is_float) return false;
    std::string digits(source_.substr(at_, end - at_));
    std::erase(digits, '_');
    double value = 0;
    // Out of range leaves 0 or infinity to strtod, as Python's literals do.
    if (std::from_chars(digits.data(), digits.data() + digits.size(), value).ec != std::errc())
      value = std::strtod(digits.c_str(), nullptr);
    add(TokenKind::floating, at_).number = value;
    at_ = end;
    return true;
  }

  void read_string() {
    const size_t begin = at_;
    const char quote = source_[begin];
    size_t end = begin + 1;
    while (end < source_.size() && source_[end] != quote) end += source_[end] == '\\' ? 2 : 1;
    if (end >= source_.size()) fail(begin, "this string has no end");
    std::string error;
    const auto text = unescape(source_.substr(begin + 1, end - begin - 1), error);
    if (!text) fail(begin, error);
    add(TokenKind::string, begin, *text);
    at_ = end + 1;
  }

  void read_operator(std::string& open_brackets) {
    std::string_view found;
    for (const std::string_view op : operators)
      if (found.empty() && starts_with(op)) found = op;
    for (const std::string_view op : more_operators)
      if (found.empty() && starts_with(op)) found = op;
    if (found.empty())
      fail(at_,
           fmt::format("unexpected character {}", quoted(source_.substr(at_, char_bytes(source_[at_])))));
    balance(found, open_brackets);
    add(TokenKind::op, at_, std::string(found));
    at_ += found.size();
  }

  void balance(std::string_view op, std::string& open_brackets) const {
    constexpr std::string_view opening = "([{", closing = ")]}";
    if (opening.find(op) != opening.npos) open_brackets += closing[opening.find(op)];
    if (closing.find(op) == closing.npos) return;
    if (open_brackets.empty()) fail(at_, fmt::format("unexpected '{}'", op));
    if (open_brackets.back() != op[0])
      fail(at_, fmt::format("unexpected '{}', expected '{}'", op, open_brackets.back()));
    open_brackets.pop_back();
  }

  std::string_view source_;
  size_t at_ = 0;
  bool line_starting_ = true;  ///< nothing but a line end was swallowed before the text at `at_`
  std::vector<Token> tokens_;
};

}  // namespace

std::string normalise_source(std::string_view source) {
  std::string text;
  text.reserve(source.size());
  for (size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\r') {
      text += '\n';
      if (i + 1 < source.size() && source[i + 1] == '\n') ++i;
    } else {
      text += source[i];
    }
  }
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

std::vector<Token> tokenize(std::string_view source) { return Lexer(source).run(); }

}  // namespace minfer::chat::jinja
