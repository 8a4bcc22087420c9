#include "tokenizer/merges.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <string>

#include "base/error.h"

namespace minfer {
namespace {

[[noreturn]] void refuse(size_t index, std::string_view rule, std::string_view expected) {
  throw Error(ErrorCode::bad_model,
              fmt::format("tokenizer.ggml.merges[{}] = \"{}\"; {}", index, rule.substr(0, 80), expected));
}

}  // namespace

Merges::Merges(const Vocabulary& vocabulary) {
  const auto rules = vocabulary.file().get_strings("tokenizer.ggml.merges");
  if (!rules)
    throw Error(ErrorCode::bad_model,
                "tokenizer.ggml.merges is absent; a BPE vocabulary needs its merge rules");
  if (rules->size() > std::numeric_limits<uint32_t>::max())
    throw Error(
        ErrorCode::bad_model,
        fmt::format("tokenizer.ggml.merges has {} rules; fewer than 2^32 are expected", rules->size()));
  const size_t capacity = std::max<size_t>(2, std::bit_ceil(rules->size() + rules->size() / 2 + 1));
  slots_.resize(capacity);
  mask_ = capacity - 1;
  shift_ = 64 - std::countr_zero(capacity);

  std::string merged;
  for (size_t i = 0; i < rules->size(); ++i) {
    const std::string_view rule = (*rules)[i];
    const size_t space = rule.find(' ');
    if (space == std::string_view::npos || space == 0 || space + 1 == rule.size() ||
        rule.find(' ', space + 1) != std::string_view::npos)
      refuse(i, rule, "two tokens with one space between them are expected");
    const std::string_view left = rule.substr(0, space), right = rule.substr(space + 1);
    merged.assign(left).append(right);
    const auto left_id = vocabulary.find(left), right_id = vocabulary.find(right);
    const auto merged_id = vocabulary.find(merged);
    if (!left_id || !right_id || !merged_id)
      refuse(i, rule, "both parts and their concatenation are expected in the vocabulary");
    insert(*left_id, *right_id, {uint32_t(i), *merged_id});
  }
}

void Merges::insert(Token left, Token right, Merge merge) {
  const uint64_t wanted = key(left, right);
  size_t slot = home(wanted);
  while (slots_[slot].key != empty && slots_[slot].key != wanted) slot = (slot + 1) & mask_;
  if (slots_[slot].key == empty) slots_[slot] = {wanted, merge};  // a repeated rule keeps its first rank
}

}  // namespace minfer
