#pragma once
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "tokenizer/bpe.h"
#include "tokenizer/pre_tokenizers.h"
#include "tokenizer/special_tokens.h"
#include "tokenizer/splitter.h"
#include "tokenizer/vocabulary.h"

namespace minfer {

/// Byte-level BPE (`tokenizer.ggml.model = gpt2`).
///
/// Special tokens are cut out of the raw text first; each stretch between them is normalised, split into
/// words and merged word by word. Bytes that are no well-formed UTF-8 become the tokens of their bytes,
/// unmerged.
class BpeTokenizer final : public Tokenizer {
 public:
  /// Throws as Tokenizer::load does.
  explicit BpeTokenizer(std::shared_ptr<const gguf::File> file);

  std::vector<Token> encode(std::string_view text, EncodeOptions options) const override;
  std::string_view token_bytes(Token id, bool special) const override;
  int32_t size() const override { return vocabulary_.size(); }
  std::string_view token_text(Token id) const override { return vocabulary_.text(id); }
  std::optional<Token> find(std::string_view text) const override { return vocabulary_.find(text); }
  std::optional<Token> bos() const override { return vocabulary_.bos(); }
  bool adds_bos() const override { return vocabulary_.adds_bos(); }
  bool is_control(Token id) const override { return vocabulary_.type(id) == TokenType::control; }
  const std::vector<Token>& end_tokens() const override { return vocabulary_.end_tokens(); }

 private:
  struct Work;
  void map_bytes();
  std::optional<Token> whole_word(std::string_view word, std::string& scratch) const;
  void encode_word(std::string_view word, Work& work) const;
  void encode_words(std::string_view text, Work& work) const;
  void encode_plain(std::string_view text, Work& work) const;

  Vocabulary vocabulary_;
  const PreTokenizer& pre_tokenizer_;
  Merges merges_;
  std::vector<Splitter> splitters_;  ///< applied one after the other
  SpecialTokens specials_;           ///< control and user-defined tokens
  SpecialTokens user_defined_;       ///< what stays a token of its own where control tokens are plain text
  std::string bytes_;                ///< what every token decodes to, one after the other
  std::vector<size_t> offsets_;      ///< token id's bytes are [offsets_[id], offsets_[id + 1])
  std::array<Token, 256> byte_ids_;  ///< -1: the vocabulary has no token for the byte
  size_t longest_text_ = 0;          ///< bytes of the longest token's stored text
};

}  // namespace minfer
