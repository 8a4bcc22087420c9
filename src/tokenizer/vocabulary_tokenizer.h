#pragma once
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "tokenizer/special_tokens.h"
#include "tokenizer/vocabulary.h"

namespace minfer {

/// What tokenizers of every kind share: the vocabulary, the bytes of each token, and the way a text is taken
/// apart. Special tokens are cut out of the raw text first; each stretch between them is encoded by itself.
class VocabularyTokenizer : public Tokenizer {
 public:
  std::vector<Token> encode(std::string_view text, EncodeOptions options) const final;
  std::string_view token_bytes(Token id, bool special) const final;
  int32_t size() const final { return vocabulary_.size(); }
  std::string_view token_text(Token id) const final { return vocabulary_.text(id); }
  std::optional<Token> find(std::string_view text) const final { return vocabulary_.find(text); }
  std::optional<Token> bos() const final { return vocabulary_.bos(); }
  bool adds_bos() const final { return vocabulary_.adds_bos(); }
  bool is_control(Token id) const final { return vocabulary_.type(id) == TokenType::control; }
  bool is_special(Token id) const final;
  const std::vector<Token>& end_tokens() const final { return vocabulary_.end_tokens(); }

 protected:
  /// What a text has become so far.
  struct Output {
    std::vector<Token> ids;
    size_t dropped = 0;  ///< bytes the vocabulary has no token for
  };
  /// Encodes the stretches of one text; holds the working memory.
  class StretchEncoder {
   public:
    virtual ~StretchEncoder() = default;
    /// Appends the tokens of `text`: not empty, free of special tokens.
    virtual void encode(std::string_view text, Output& out) = 0;
  };
  virtual std::unique_ptr<StretchEncoder> stretch_encoder() const = 0;

  explicit VocabularyTokenizer(std::shared_ptr<const gguf::File> file) : vocabulary_(std::move(file)) {}

  /// To be called once, by the constructor of the derived class: `append(id, bytes)` appends what token `id`
  /// decodes to, never more bytes than its stored text has.
  template <class Append>
  void set_bytes(const Append& append);
  size_t longest_text() const { return longest_text_; }  ///< bytes of the longest token's stored text

  Vocabulary vocabulary_;

 private:
  SpecialTokens::Accept only_trusted(const std::vector<TextRange>* trusted) const;
  SpecialTokens tokens_of(std::initializer_list<TokenType> types) const;

  std::string bytes_;            ///< what every token decodes to, one after the other
  std::vector<size_t> offsets_;  ///< token id's bytes are [offsets_[id], offsets_[id + 1])
  size_t longest_text_ = 0;
  SpecialTokens specials_{{}};      ///< control and user-defined tokens, and the unknown token by its name
  SpecialTokens user_defined_{{}};  ///< what stays a token of its own where control tokens are plain text
};

template <class Append>
void VocabularyTokenizer::set_bytes(const Append& append) {
  size_t total = 0;
  for (Token id = 0; id < size(); ++id) {
    total += token_text(id).size();
    longest_text_ = std::max(longest_text_, token_text(id).size());
  }
  bytes_.reserve(total);
  offsets_.reserve(size_t(size()) + 1);
  for (Token id = 0; id < size(); ++id) {
    offsets_.push_back(bytes_.size());
    append(id, bytes_);
  }
  offsets_.push_back(bytes_.size());
  specials_ = tokens_of({TokenType::control, TokenType::user_defined, TokenType::unknown});
  user_defined_ = tokens_of({TokenType::user_defined});
}

}  // namespace minfer
