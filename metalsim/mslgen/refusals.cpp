#include "attributes.h"
#include "reader.h"

namespace metalsim::mslgen {

/// Ends with an error at the first word that Metal or the simulator does not have, and at attributes that
/// neither knows. Apple's compiler refuses most of these; the host compiler would take them.
void Reader::refuse(Range range) const {
  for (size_t i = range.begin; i < range.end; ++i) {
    const Token& token = at(i);
    if (token.kind == TokenKind::sign && token.text == "[") {
      refuse_lambda(i);
      continue;
    }
    if (token.kind != TokenKind::word) continue;
    const bool member = i > 0 && (at(i - 1).is(".") || at(i - 1).is("->"));
    if (member) continue;
    const std::string word(token.text);
    if (const std::string_view why = why_refused(word); !why.empty())
      unit_.fail(i, "`" + word + "` " + std::string(why));
    if (word == "delete" && !at(i - 1).is("=")) unit_.fail(i, "`delete` is not part of Metal's language");
    if (word == "std" && at(i + 1).is("::")) unit_.fail(i, "Metal has no namespace std; use metal::");
    const bool as_type = at(i + 1).is("<") || at(i + 1).kind == TokenKind::word;
    if (is_texture_type(word) && as_type)
      unit_.fail(i, "`" + word + "` is not supported: metalsim runs compute kernels on buffers");
    if ((word == "vertex" || word == "fragment") && at(i + 1).kind == TokenKind::word)
      unit_.fail(i, word + " functions are not supported: metalsim runs compute kernels");
  }
}

/// `[` where an expression may begin introduces a lambda, unless it is the first of an attribute's two.
void Reader::refuse_lambda(size_t i) const {
  if (attribute_begins(i) || (i > 0 && attribute_begins(i - 1))) return;
  const bool expression_begins = i > 0 && (at(i - 1).is("=") || at(i - 1).is("(") || at(i - 1).is(",") ||
                                           at(i - 1).is("return") || at(i - 1).is("{") || at(i - 1).is(";"));
  if (expression_begins) unit_.fail(i, "lambda expressions are not part of Metal 3's language");
}

}  // namespace metalsim::mslgen
