#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "chat/chat_template.h"

namespace minfer {

/// The tokens behind a chat: which were encoded from rendered text, and which the model itself produced.
///
/// What a model writes token by token is often not what its tokenizer makes of the same text: ` hello` may
/// come as ` hel` and `lo`. Encoding a rendered chat anew would then differ from what a KV cache holds, and
/// all that follows would have to be computed again. So the ids of each answer are kept, and put back
/// wherever a later rendering holds the same text in the same place.
class TokenLedger {
 public:
  explicit TokenLedger(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {}

  /// The tokens of one rendering.
  struct Plan {
    std::vector<Token> tokens;
    size_t kept = 0;         ///< exchanges of the ledger that are its beginning, unchanged
    std::string tail;        ///< the text after them,
    std::string trust;       ///< who wrote each of its bytes: 't' the template, 'u' users and the model
    size_t tail_tokens = 0;  ///< and how many of `tokens` it is
  };
  /// Exchanges whose text is found again keep their ids; the text after the last of these is encoded as one.
  Plan plan(std::span<const chat::Piece> pieces) const;

  /// Remembers what was answered to `plan`; what the plan did not keep is forgotten. `answer` is the text as
  /// it goes into the history and `generated` what the model produced for it, maybe more. Returns how many of
  /// the generated ids stand for the answer and may stay in the cache; where the text ends inside a token,
  /// the rest of it is encoded.
  size_t record(const Plan& plan, std::string_view answer, std::span<const Token> generated);

  void forget() { exchanges_.clear(); }

 private:
  /// A stretch of rendered text, and the answer to it.
  struct Exchange {
    std::string text, trust;
    std::vector<Token> tokens;
    std::string answer;
    std::vector<Token> answer_tokens;
  };
  struct Rendered;
  std::vector<Token> encode(const Rendered& rendered, size_t begin, size_t end) const;
  std::optional<size_t> answer_length(const Exchange& exchange, const Rendered& rendered, size_t at) const;
  bool starts_apart(const Rendered& rendered, size_t at) const;
  struct Spelling;
  Spelling spell(std::span<const Token> before, std::span<const Token> ids, std::string_view text) const;

  const Tokenizer& tokenizer_;
  std::vector<Exchange> exchanges_;
};

}  // namespace minfer
