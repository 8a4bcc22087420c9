#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "tokenizer/tokenizer.h"

namespace minfer {

/// Greedy merging of neighbours, the loop that all byte-pair encoders share: as long as two neighbours may
/// merge, the pair of the lowest rank (the leftmost of equals) becomes one symbol.
///
/// O(n log n) time, O(n) memory, constant stack. Holds the working memory, so one object serves a whole text;
/// not for two threads at once.
/// Source: Sennrich, Haddow, Birch, "Neural Machine Translation of Rare Words with Subword Units", 2016.
class PairMerger {
 public:
  /// One symbol of the word under construction, in a doubly linked list by position.
  struct Symbol {
    Token id;                ///< -1: no token of the vocabulary
    int32_t previous, next;  ///< positions; -1 at the ends
    uint32_t rank;           ///< of the merge of this and `next`; no_rule if none, or if merged away
    Token merged;            ///< what they would become
  };
  /// The merge of two neighbours. Ranks are below 2^32 - 1.
  struct Merge {
    uint32_t rank;  ///< lower merges first
    Token merged;
  };

  /// Starts a word of `count` symbols (fewer than 2^31); their ids are set by the caller.
  void start(size_t count) {
    symbols_.clear();
    symbols_.reserve(count);
    for (int32_t i = 0; i < int32_t(count); ++i)
      symbols_.push_back({-1, i - 1, i + 1 < int32_t(count) ? i + 1 : -1, no_rule, -1});
  }
  Symbol& operator[](int32_t position) { return symbols_[size_t(position)]; }

  /// Merges until nothing merges. `find(left, right)` is given the positions of two neighbours and returns
  /// their std::optional<Merge>. What is left is the list from position 0 on.
  template <class Find>
  void merge(const Find& find) {
    heap_.clear();
    for (int32_t i = 0; i < int32_t(symbols_.size()); ++i) look_up_pair(i, find);
    std::make_heap(heap_.begin(), heap_.end(), std::greater<>());
    while (!heap_.empty()) {
      std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
      const uint32_t rank = uint32_t(heap_.back() >> 32);
      const int32_t position = int32_t(uint32_t(heap_.back()));
      heap_.pop_back();
      Symbol& left = (*this)[position];
      if (left.rank != rank) continue;
      Symbol& right = (*this)[left.next];
      left.id = left.merged;
      left.next = right.next;
      right.rank = no_rule;
      if (left.next >= 0) (*this)[left.next].previous = position;
      update(position, find);
      if (left.previous >= 0) update(left.previous, find);
    }
  }

 private:
  static constexpr uint32_t no_rule = std::numeric_limits<uint32_t>::max();

  template <class Find>
  void look_up_pair(int32_t left, const Find& find) {
    Symbol& symbol = (*this)[left];
    symbol.rank = no_rule;
    if (symbol.next < 0) return;
    const std::optional<Merge> merge = find(left, symbol.next);
    if (!merge) return;
    symbol.rank = merge->rank;
    symbol.merged = merge->merged;
    heap_.push_back(uint64_t(merge->rank) << 32 | uint32_t(left));
  }
  template <class Find>
  void update(int32_t left, const Find& find) {
    const size_t before = heap_.size();
    look_up_pair(left, find);
    if (heap_.size() > before) std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
  }

  std::vector<Symbol> symbols_;
  /// Min-heap of rank << 32 | position. An entry whose rank is no longer its symbol's is stale and skipped.
  std::vector<uint64_t> heap_;
};

}  // namespace minfer
