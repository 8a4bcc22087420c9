#include "tokenizer/bpe.h"

#include <algorithm>
#include <functional>
#include <limits>

namespace minfer {
namespace {

constexpr uint32_t no_rule = std::numeric_limits<uint32_t>::max();

}  // namespace

void BytePairEncoder::look_up_pair(int32_t left) {
  Symbol& symbol = symbols_[size_t(left)];
  symbol.rank = no_rule;
  if (symbol.next < 0) return;
  const Merges::Merge* merge = merges_.find(symbol.id, symbols_[size_t(symbol.next)].id);
  if (merge == nullptr) return;
  symbol.rank = merge->rank;
  symbol.merged = merge->merged;
  heap_.push_back(uint64_t(merge->rank) << 32 | uint32_t(left));
}

void BytePairEncoder::encode(std::span<const Token> bytes, std::vector<Token>& out) {
  const int32_t count = int32_t(bytes.size());
  symbols_.clear();
  heap_.clear();
  for (int32_t i = 0; i < count; ++i)
    symbols_.push_back({bytes[size_t(i)], i - 1, i + 1 < count ? i + 1 : -1, no_rule, 0});
  for (int32_t i = 0; i < count; ++i) look_up_pair(i);
  std::make_heap(heap_.begin(), heap_.end(), std::greater<>());

  const auto update = [this](int32_t left) {
    const size_t before = heap_.size();
    look_up_pair(left);
    if (heap_.size() > before) std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
  };
  while (!heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    const uint32_t rank = uint32_t(heap_.back() >> 32);
    const int32_t position = int32_t(uint32_t(heap_.back()));
    heap_.pop_back();
    Symbol& left = symbols_[size_t(position)];
    if (left.rank != rank) continue;
    Symbol& right = symbols_[size_t(left.next)];
    left.id = left.merged;
    left.next = right.next;
    right.rank = no_rule;
    if (left.next >= 0) symbols_[size_t(left.next)].previous = position;
    update(position);
    if (left.previous >= 0) update(left.previous);
  }
  for (int32_t i = count > 0 ? 0 : -1; i >= 0; i = symbols_[size_t(i)].next)
    out.push_back(symbols_[size_t(i)].id);
}

}  // namespace minfer
