#pragma once
#include <array>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "tokenizer/tokenizer.h"

namespace minfer {

/// Finds tokens that are matched in the text before it is split: the leftmost, and of those the longest.
/// Takes O(text * longest token * log tokens) at worst; text without a token's first byte costs one look-up a
/// byte.
class SpecialTokens {
 public:
  struct Entry {
    std::string_view text;  ///< not empty; outlives this object
    Token id;
  };
  explicit SpecialTokens(std::vector<Entry> entries);

  struct Match {
    size_t begin, length;
    Token id;
  };
  using Accept = std::function<bool(const Match&)>;
  /// The first match at or after `from` that `accept` takes; without it, any.
  std::optional<Match> find(std::string_view text, size_t from, const Accept& accept = {}) const;

 private:
  std::optional<Match> longest_at(std::string_view text, size_t at, const Accept& accept) const;

  std::vector<Entry> entries_;  ///< by text
  std::array<bool, 256> starts_{};
};

}  // namespace minfer
