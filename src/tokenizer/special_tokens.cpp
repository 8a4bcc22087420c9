#include "tokenizer/special_tokens.h"

#include <algorithm>

namespace minfer {

SpecialTokens::SpecialTokens(std::vector<Entry> entries) : entries_(std::move(entries)) {
  // Stable: of two tokens with one text the first listed, the lower id, is the one found.
  std::stable_sort(entries_.begin(), entries_.end(),
                   [](const Entry& a, const Entry& b) { return a.text < b.text; });
  for (const Entry& entry : entries_) starts_[uint8_t(entry.text[0])] = true;
}

/// Narrows the sorted entries to those that share one more byte with the text at each step. An entry that has
/// been matched whole is the first of its range, because shorter texts sort first.
std::optional<SpecialTokens::Match> SpecialTokens::longest_at(std::string_view whole, size_t at_byte,
                                                              const Accept& accept) const {
  const std::string_view text = whole.substr(at_byte);
  std::optional<Match> longest;
  auto begin = entries_.begin(), end = entries_.end();
  for (size_t depth = 0; depth < text.size(); ++depth) {
    const uint8_t byte = uint8_t(text[depth]);
    // Entries that end at `depth` come first in the range and are below every byte.
    const auto at = [depth](const Entry& e) {
      return depth < e.text.size() ? int(uint8_t(e.text[depth])) : -1;
    };
    begin = std::partition_point(begin, end, [&](const Entry& e) { return at(e) < int(byte); });
    end = std::partition_point(begin, end, [&](const Entry& e) { return at(e) == int(byte); });
    if (begin == end) break;
    if (begin->text.size() != depth + 1) continue;
    const Match match{at_byte, depth + 1, begin->id};
    if (!accept || accept(match)) longest = match;
  }
  return longest;
}

std::optional<SpecialTokens::Match> SpecialTokens::find(std::string_view text, size_t from,
                                                        const Accept& accept) const {
  if (entries_.empty()) return std::nullopt;
  for (size_t i = from; i < text.size(); ++i) {
    if (!starts_[uint8_t(text[i])]) continue;
    if (const auto match = longest_at(text, i, accept)) return match;
  }
  return std::nullopt;
}

}  // namespace minfer
