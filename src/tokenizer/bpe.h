#pragma once
#include <span>
#include <vector>

#include "tokenizer/merges.h"
#include "tokenizer/pair_merger.h"

namespace minfer {

/// Byte-pair encoding of one word by a list of merge rules, the first rule first.
///
/// Time, memory and threads as PairMerger.
class BytePairEncoder {
 public:
  explicit BytePairEncoder(const Merges& merges) : merges_(merges) {}
  /// Appends the tokens of a word, given as the tokens of its bytes (fewer than 2^31), to `out`.
  void encode(std::span<const Token> bytes, std::vector<Token>& out);

 private:
  const Merges& merges_;
  PairMerger merger_;
};

}  // namespace minfer
