#pragma once
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "tokenizer/pair_merger.h"
#include "tokenizer/vocabulary.h"

namespace minfer {

/// The merge rules of a BPE vocabulary, by pair of token ids.
class Merges {
 public:
  using Merge = PairMerger::Merge;
  /// Reads `tokenizer.ggml.merges`. Throws Error{bad_model} for a rule that is not two tokens with a space
  /// between them, or whose parts or result are not in the vocabulary.
  explicit Merges(const Vocabulary& vocabulary);

  /// Nothing if the two do not merge.
  std::optional<Merge> find(Token left, Token right) const {
    const uint32_t rank = slots_[slot_of(left, right)];
    return rank == empty ? std::nullopt : std::optional(Merge{rank, rules_[rank].merged});
  }

 private:
  struct Rule {
    Token left, right, merged;
  };
  class Reader;
  static std::vector<Rule> read(const Vocabulary& vocabulary, std::span<const std::string_view> rules);

  static constexpr uint32_t empty = std::numeric_limits<uint32_t>::max();
  /// Multiplicative hashing (Knuth, The Art of Computer Programming, vol. 3, 6.4): the high bits mix best.
  size_t home(Token left, Token right) const {
    return size_t((uint64_t(uint32_t(left)) << 32 | uint32_t(right)) * 0x9E3779B97F4A7C15u >> shift_);
  }
  /// The slot that holds the rule of this pair, or the empty one where it would be.
  size_t slot_of(Token left, Token right) const {
    size_t slot = home(left, right);
    while (slots_[slot] != empty &&
           (rules_[slots_[slot]].left != left || rules_[slots_[slot]].right != right))
      slot = (slot + 1) & mask_;
    return slot;
  }

  std::vector<Rule> rules_;      ///< by rank
  std::vector<uint32_t> slots_;  ///< ranks; open addressing; a power of two, under 2/3 full
  size_t mask_;
  int shift_;
};

}  // namespace minfer
