/// Tokens of a preprocessed Metal source.
#pragma once
#include <string_view>
#include <vector>

#include "source.h"

namespace metalsim::mslgen {

enum class TokenKind { word, number, text, sign, end };

struct Token {
  TokenKind kind;
  std::string_view text;
  size_t begin, end;  // offsets in Source::text

  bool is(std::string_view spelling) const { return text == spelling && kind != TokenKind::text; }
};

/// All tokens, and one of kind `end`. Comments, line markers and #pragma lines are passed over. `::` and `->`
/// are one sign; all others are single characters, so that `>>` closes two template argument lists. Throws
/// SourceError for an unfinished comment or literal.
std::vector<Token> lex(const Source& source);

}  // namespace metalsim::mslgen
