#include "tokenizer/merges.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <string>
#include <utility>

#include "base/error.h"

namespace minfer {
namespace {

constexpr size_t block =
    64;  ///< rules under way at once: enough to hide a cache miss, few enough to stay in cache

/// A rule's two texts, being looked up.
struct Parts {
  Vocabulary::Search left, right;
};
struct Rule {
  Token left, right, merged;
};

[[noreturn]] void refuse(size_t index, std::string_view rule, std::string_view expected) {
  throw Error(ErrorCode::bad_model,
              fmt::format("tokenizer.ggml.merges[{}] = \"{}\"; {}", index, rule.substr(0, 80), expected));
}

std::pair<std::string_view, std::string_view> parse(size_t index, std::string_view rule) {
  const size_t space = rule.find(' ');
  if (space == std::string_view::npos || space == 0 || space + 1 == rule.size() ||
      rule.find(' ', space + 1) != std::string_view::npos)
    refuse(index, rule, "two tokens with one space between them are expected");
  return {rule.substr(0, space), rule.substr(space + 1)};
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
  for (size_t first = 0; first < rules->size(); first += block)
    add_block(vocabulary, first, std::span(*rules).subspan(first, std::min(block, rules->size() - first)));
}

/// Loading is bound by cache misses in the two hash tables: each loop below asks for what the next one reads.
void Merges::add_block(const Vocabulary& vocabulary, size_t first_rank,
                       std::span<const std::string_view> rules) {
  std::array<Parts, block> parts;
  for (size_t i = 0; i < rules.size(); ++i) {
    const auto [left, right] = parse(first_rank + i, rules[i]);
    parts[i] = {vocabulary.start_search(left), vocabulary.start_search(right)};
  }
  for (size_t i = 0; i < rules.size(); ++i) {
    vocabulary.find_guess(parts[i].left);
    vocabulary.find_guess(parts[i].right);
  }
  for (size_t i = 0; i < rules.size(); ++i) {
    vocabulary.fetch_guess(parts[i].left);
    vocabulary.fetch_guess(parts[i].right);
  }
  std::array<Rule, block> found;
  for (size_t i = 0; i < rules.size(); ++i) {
    const auto left = vocabulary.finish(parts[i].left), right = vocabulary.finish(parts[i].right);
    const auto result = find_result(vocabulary, parts[i].left.text, parts[i].right.text);
    if (!left || !right || !result)
      refuse(first_rank + i, rules[i], "both parts and their concatenation are expected in the vocabulary");
    found[i] = {*left, *right, *result};
    __builtin_prefetch(&slots_[home(key(*left, *right))]);
  }
  for (size_t i = 0; i < rules.size(); ++i)
    insert(found[i].left, found[i].right, {uint32_t(first_rank + i), found[i].merged});
}

/// Published vocabularies list tokens in the order of their rules: the id after the last result is tried
/// first.
std::optional<Token> Merges::find_result(const Vocabulary& vocabulary, std::string_view left,
                                         std::string_view right) {
  const auto is_result = [&](std::string_view text) {
    return text.size() == left.size() + right.size() && text.starts_with(left) && text.ends_with(right);
  };
  const auto texts = vocabulary.texts();
  const bool in_order = size_t(next_result_) < texts.size() && is_result(texts[size_t(next_result_)]);
  const auto result =
      in_order ? std::optional(next_result_) : vocabulary.find(std::string(left).append(right));
  if (result) next_result_ = *result + 1;
  return result;
}

void Merges::insert(Token left, Token right, Merge merge) {
  const uint64_t wanted = key(left, right);
  size_t slot = home(wanted);
  while (slots_[slot].key != empty && slots_[slot].key != wanted) slot = (slot + 1) & mask_;
  if (slots_[slot].key == empty) slots_[slot] = {wanted, merge};  // a repeated rule keeps its first rank
}

}  // namespace minfer
