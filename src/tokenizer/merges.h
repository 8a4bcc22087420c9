#pragma once
#include <cstdint>
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

  /// Null if the two do not merge.
  const Merge* find(Token left, Token right) const {
    const uint64_t wanted = key(left, right);
    for (size_t slot = home(wanted);; slot = (slot + 1) & mask_) {
      if (slots_[slot].key == wanted) return &slots_[slot].merge;
      if (slots_[slot].key == empty) return nullptr;
    }
  }

 private:
  /// Ids are below 2^31, so no pair has this key.
  static constexpr uint64_t empty = ~uint64_t(0);
  struct Slot {
    uint64_t key = empty;
    Merge merge{};
  };
  static uint64_t key(Token left, Token right) { return uint64_t(uint32_t(left)) << 32 | uint32_t(right); }
  /// Multiplicative hashing (Knuth, The Art of Computer Programming, vol. 3, 6.4): the high bits mix best.
  size_t home(uint64_t k) const { return size_t(k * 0x9E3779B97F4A7C15u >> shift_); }
  void add_block(const Vocabulary& vocabulary, size_t first_rank, std::span<const std::string_view> rules);
  std::optional<Token> find_result(const Vocabulary& vocabulary, std::string_view text);
  void insert(Token left, Token right, Merge merge);

  std::vector<Slot> slots_;  ///< open addressing; a power of two, under 2/3 full
  size_t mask_;
  int shift_;
  Token next_result_ = 0;  ///< while loading: where the next rule's result is expected
};

}  // namespace minfer
