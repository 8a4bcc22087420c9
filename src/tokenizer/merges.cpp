#include "tokenizer/merges.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <future>
#include <limits>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/thread_pool.h"

namespace minfer {
namespace {

/// Rules under way at once: enough to hide a cache miss, few enough to stay in cache.
constexpr size_t block = 64;
constexpr size_t worth_a_thread = 16'000;  ///< rules that take longer than starting one

using Rules = std::span<const std::string_view>;

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

/// Finds the ids of rules that follow each other.
class Merges::Reader {
 public:
  Reader(const Vocabulary& vocabulary, Rules rules) : vocabulary_(vocabulary), rules_(rules) {}

  void read(size_t begin, size_t end, std::span<Rule> found) {
    for (size_t first = begin; first < end; first += block)
      read_block(first, std::min(block, end - first), found);
  }

 private:
  /// Bound by cache misses in the vocabulary: each loop asks for what the next one reads.
  void read_block(size_t first, size_t count, std::span<Rule> found) {
    struct Parts {
      Vocabulary::Search left, right;
    };
    std::array<Parts, block> parts;
    for (size_t i = 0; i < count; ++i) {
      const auto [left, right] = parse(first + i, rules_[first + i]);
      parts[i] = {vocabulary_.start_search(left), vocabulary_.start_search(right)};
    }
    for (size_t i = 0; i < count; ++i) {
      vocabulary_.find_guess(parts[i].left);
      vocabulary_.find_guess(parts[i].right);
    }
    for (size_t i = 0; i < count; ++i) {
      vocabulary_.fetch_guess(parts[i].left);
      vocabulary_.fetch_guess(parts[i].right);
    }
    for (size_t i = 0; i < count; ++i) {
      const auto left = vocabulary_.finish(parts[i].left), right = vocabulary_.finish(parts[i].right);
      const auto result = find_result(parts[i].left.text, parts[i].right.text);
      if (!left || !right || !result)
        refuse(first + i, rules_[first + i],
               "both parts and their concatenation are expected in the vocabulary");
      found[first + i] = {*left, *right, *result};
    }
  }

  /// Published vocabularies list tokens in the order of their rules: the id after the last result is tried
  /// first.
  std::optional<Token> find_result(std::string_view left, std::string_view right) {
    const auto is_result = [&](std::string_view text) {
      return text.size() == left.size() + right.size() && text.starts_with(left) && text.ends_with(right);
    };
    const auto texts = vocabulary_.texts();
    const bool in_order = size_t(next_result_) < texts.size() && is_result(texts[size_t(next_result_)]);
    const auto result =
        in_order ? std::optional(next_result_) : vocabulary_.find(std::string(left).append(right));
    if (result) next_result_ = *result + 1;
    return result;
  }

  const Vocabulary& vocabulary_;
  const Rules rules_;
  Token next_result_ = 0;  ///< where the next rule's result is expected
};

/// Half of what loading a vocabulary takes, so all cores share it.
std::vector<Merges::Rule> Merges::read(const Vocabulary& vocabulary, Rules rules) {
  std::vector<Rule> found(rules.size());
  const size_t threads = std::clamp<size_t>(rules.size() / worth_a_thread, 1, size_t(usable_cores()));
  const auto begin_of = [&](size_t thread) { return rules.size() * thread / threads; };
  const auto read_share = [&](size_t thread) {
    Reader(vocabulary, rules).read(begin_of(thread), begin_of(thread + 1), found);
  };
  std::vector<std::future<void>> others;  // their destructors wait, also where something throws
  // Deferred: what the system gives no thread for is read below.
  for (size_t thread = 1; thread < threads; ++thread)
    others.push_back(std::async(std::launch::async | std::launch::deferred, read_share, thread));
  read_share(0);
  for (auto& other : others) other.get();  // in order: of several wrong rules the first is named
  return found;
}

Merges::Merges(const Vocabulary& vocabulary) {
  const auto rules = vocabulary.file().get_strings("tokenizer.ggml.merges");
  if (!rules)
    throw Error(ErrorCode::bad_model,
                "tokenizer.ggml.merges is absent; a BPE vocabulary needs its merge rules");
  if (rules->size() > std::numeric_limits<uint32_t>::max())
    throw Error(
        ErrorCode::bad_model,
        fmt::format("tokenizer.ggml.merges has {} rules; fewer than 2^32 are expected", rules->size()));
  rules_ = read(vocabulary, *rules);
  const size_t capacity = std::max<size_t>(2, std::bit_ceil(rules_.size() + rules_.size() / 2 + 1));
  slots_.assign(capacity, empty);
  mask_ = capacity - 1;
  shift_ = 64 - std::countr_zero(capacity);
  for (size_t rank = 0; rank < rules_.size(); ++rank) {
    const Rule& ahead = rules_[std::min(rank + block, rules_.size() - 1)];
    __builtin_prefetch(&slots_[home(ahead.left, ahead.right)]);
    uint32_t& slot = slots_[slot_of(rules_[rank].left, rules_[rank].right)];
    if (slot == empty) slot = uint32_t(rank);  // a repeated rule keeps its first rank
  }
}

}  // namespace minfer
