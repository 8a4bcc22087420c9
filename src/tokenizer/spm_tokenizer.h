#pragma once
#include <array>
#include <memory>
#include <optional>

#include "tokenizer/spm.h"
#include "tokenizer/vocabulary_tokenizer.h"

namespace minfer {

/// SentencePiece BPE (`tokenizer.ggml.model = llama`: Llama 2, Mistral, TinyLlama).
///
/// Spaces are written as U+2581. Each stretch between special tokens gets a space in front, unless the file
/// says no; decoding takes the first one away again. A character that is no piece becomes its byte tokens, or
/// the unknown token where the vocabulary has no byte tokens.
class SpmTokenizer final : public VocabularyTokenizer {
 public:
  /// Throws as Tokenizer::load does.
  explicit SpmTokenizer(std::shared_ptr<const gguf::File> file);
  bool strips_first_space() const override { return adds_space_; }

 private:
  class Pieces;
  std::unique_ptr<StretchEncoder> stretch_encoder() const override;
  void map_bytes();

  ScoredPieces pieces_;
  bool adds_space_;
  std::array<Token, 256> byte_ids_;  ///< -1: the vocabulary has no token for the byte
  std::optional<Token> unknown_;
};

}  // namespace minfer
