#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "chat/jinja/runtime.h"

namespace minfer::chat::jinja {

enum class TokenKind : uint8_t {
  data,  ///< text outside of tags; `text` is what is left of it after trimming
  output_begin,
  output_end,  ///< {{ }}
  block_begin,
  block_end,  ///< {% %}
  name,
  string,
  integer,
  floating,
  op,
  end
};

struct Token {
  TokenKind kind;
  Position at;
  std::string text;  ///< of data, names and operators; of strings the characters meant
  int64_t integer = 0;
  double number = 0;

  bool is(TokenKind wanted, std::string_view wanted_text) const {
    return kind == wanted && text == wanted_text;
  }
  bool is_op(std::string_view wanted) const { return is(TokenKind::op, wanted); }
  bool is_name(std::string_view wanted) const { return is(TokenKind::name, wanted); }
};

/// A source with \r\n and \r as \n, without its last line end: what every position refers to.
std::string normalise_source(std::string_view source);

/// Cuts a normalised source into tokens, the last of kind `end`. Blanks are trimmed as Jinja2 does with
/// trim_blocks and lstrip_blocks, and as `-` and `+` in tags say. Throws Error{bad_model}.
std::vector<Token> tokenize(std::string_view source);

}  // namespace minfer::chat::jinja
