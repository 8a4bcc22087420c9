#include "lexer.h"

namespace metalsim::mslgen {
namespace {

class Lexer {
 public:
  explicit Lexer(const Source& source) : source_(source), text_(source.text()) {}

  std::vector<Token> run() {
    while (skip_blanks()) tokens_.push_back(next());
    tokens_.push_back({TokenKind::end, {}, text_.size(), text_.size()});
    return std::move(tokens_);
  }

 private:
  char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  bool starts(std::string_view what) const { return text_.compare(at_, what.size(), what) == 0; }

  /// Moves to the next token; false at the end.
  bool skip_blanks() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n') {
        line_begins_ = true;
        ++at_;
      } else if (c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f') {
        ++at_;
      } else if (starts("//") || (c == '#' && line_begins_)) {
        skip_line();
      } else if (starts("/*")) {
        const size_t end = text_.find("*/", at_ + 2);
        if (end == std::string::npos) throw SourceError(source_.place(at_, at_ + 2), "comment without end");
        at_ = end + 2;
      } else {
        line_begins_ = false;
        return true;
      }
    }
    return false;
  }

  void skip_line() {
    while (at_ < text_.size() && text_[at_] != '\n') at_ += text_[at_] == '\\' ? 2 : 1;
  }

  Token next() {
    const size_t begin = at_;
    TokenKind kind = TokenKind::sign;
    const char c = peek();
    if (is_digit(c) || (c == '.' && is_digit(peek(1)))) {
      kind = TokenKind::number;
      skip_number();
    } else if (is_word(c)) {
      kind = TokenKind::word;
      while (is_word(peek())) ++at_;
    } else if (c == '"' || c == '\'') {
      kind = TokenKind::text;
      skip_literal(c);
    } else {
      at_ += starts("::") || starts("->") ? 2 : 1;
    }
    return {kind, std::string_view(text_).substr(begin, at_ - begin), begin, at_};
  }

  /// A number of the preprocessor: digits, letters, points, and signs after an exponent's letter.
  void skip_number() {
    const bool hexadecimal = peek() == '0' && (peek(1) == 'x' || peek(1) == 'X');
    while (is_word(peek()) || peek() == '.') {
      const char c = text_[at_++];
      const bool exponent = hexadecimal ? c == 'p' || c == 'P' : c == 'e' || c == 'E';
      if (exponent && (peek() == '+' || peek() == '-')) ++at_;
    }
  }

  void skip_literal(char quote) {
    const size_t begin = at_++;
    while (peek() != quote) {
      if (peek() == '\0' || peek() == '\n')
        throw SourceError(source_.place(begin, begin + 1), "literal without closing quote");
      at_ += peek() == '\\' ? 2 : 1;
    }
    ++at_;
  }

  const Source& source_;
  const std::string& text_;
  size_t at_ = 0;
  bool line_begins_ = true;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> lex(const Source& source) { return Lexer(source).run(); }

}  // namespace metalsim::mslgen
