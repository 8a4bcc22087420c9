#pragma once
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "tokenizer/merges.h"
#include "tokenizer/pre_tokenizers.h"
#include "tokenizer/splitter.h"
#include "tokenizer/vocabulary_tokenizer.h"

namespace minfer {

/// Byte-level BPE (`tokenizer.ggml.model = gpt2`).
///
/// A stretch between special tokens is normalised, split into words and merged word by word. Bytes that are
/// no well-formed UTF-8 become the tokens of their bytes, unmerged.
class BpeTokenizer final : public VocabularyTokenizer {
 public:
  /// Throws as Tokenizer::load does.
  explicit BpeTokenizer(std::shared_ptr<const gguf::File> file);
  bool strips_first_space() const override { return false; }

 private:
  class Words;
  std::unique_ptr<StretchEncoder> stretch_encoder() const override;
  Merges load_tables();

  const PreTokenizer& pre_tokenizer_;
  Merges merges_;
  std::vector<Splitter> splitters_;  ///< applied one after the other
  std::array<Token, 256> byte_ids_;  ///< -1: the vocabulary has no token for the byte
};

}  // namespace minfer
