#pragma once
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tokenizer/pair_merger.h"
#include "tokenizer/vocabulary.h"

namespace minfer {

/// The pieces of a SentencePiece BPE vocabulary: which texts are pieces, and which pair merges first.
class ScoredPieces {
 public:
  /// Reads `tokenizer.ggml.scores`; `vocabulary` outlives this object. Throws Error{bad_model} if there is
  /// not one number for each token, or no token types.
  explicit ScoredPieces(const Vocabulary& vocabulary);

  /// The piece spelled `text`: a normal, user-defined or unused token. Control and byte tokens are no pieces,
  /// so no text can spell them.
  std::optional<Token> find(std::string_view text) const;
  uint32_t rank(Token id) const { return ranks_[size_t(id)]; }  ///< the higher the score, the lower
  bool is_unused(Token id) const { return vocabulary_.type(id) == TokenType::unused; }

 private:
  const Vocabulary& vocabulary_;
  std::vector<uint32_t> ranks_;
  size_t longest_ = 0;  ///< bytes of the longest piece
};

/// SentencePiece's BPE: characters merge with their neighbours as long as the two make a piece, the pair
/// whose piece has the highest score (the leftmost of equals) first. A piece marked unused serves as a step
/// on the way only: where it is left over it falls apart again into what it was made of.
///
/// Time, memory and threads as PairMerger.
/// Source: Kudo and Richardson, "SentencePiece: A simple and language independent subword tokenizer and
/// detokenizer for Neural Text Processing", 2018; behaviour compared with the sentencepiece library.
class ScoredPairEncoder {
 public:
  explicit ScoredPairEncoder(const ScoredPieces& pieces) : pieces_(pieces) {}
  /// A piece of the result; `id` is -1 for a character that is no piece.
  struct Part {
    std::string_view text;
    Token id;
  };
  /// Appends the parts of `text` (fewer than 2^31 bytes) to `out`. A byte that belongs to no well-formed
  /// character counts as one.
  void encode(std::string_view text, std::vector<Part>& out);

 private:
  std::string_view span(int32_t first, int32_t end) const;
  std::optional<PairMerger::Merge> find_merge(int32_t left, int32_t right);
  void append(Part part, std::vector<Part>& out);

  const ScoredPieces& pieces_;
  PairMerger merger_;
  std::string_view text_;
  std::vector<uint32_t> starts_;  ///< of each character in `text_`, and its end
  /// Of each unused piece that came up: bytes of the left one of the two that make it.
  std::unordered_map<Token, size_t> splits_;
  std::vector<Part> open_;  ///< parts that may have to fall apart, the leftmost last
};

}  // namespace minfer
