#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "tokenizer/merges.h"

namespace minfer {

/// Byte-pair encoding of one word: as long as two neighbours have a merge rule, the pair whose rule has the
/// lowest rank (the leftmost of equals) becomes one token.
///
/// O(n log n) time, O(n) memory, constant stack. Holds the working memory, so one object serves a whole text;
/// not for two threads at once.
/// Source: Sennrich, Haddow, Birch, "Neural Machine Translation of Rare Words with Subword Units", 2016.
class BytePairEncoder {
 public:
  explicit BytePairEncoder(const Merges& merges) : merges_(merges) {}
  /// Appends the tokens of a word, given as the tokens of its bytes (fewer than 2^31), to `out`.
  void encode(std::span<const Token> bytes, std::vector<Token>& out);

 private:
  /// A token of the word under construction, in a doubly linked list over `symbols_`.
  struct Symbol {
    Token id;
    int32_t previous, next;  ///< -1 at the ends
    uint32_t rank;           ///< of the rule that merges this and `next`; no_rule if none, or if merged away
    Token merged;            ///< what they would become
  };
  void look_up_pair(int32_t left);

  const Merges& merges_;
  std::vector<Symbol> symbols_;
  /// Min-heap of rank << 32 | position. An entry whose rank is no longer its symbol's is stale and skipped.
  std::vector<uint64_t> heap_;
};

}  // namespace minfer
