#pragma once
#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace minfer::gguf {

/// Finds records by name in O(log n), whatever the names are: a hash table could be driven into quadratic
/// time by a file made for it. The names must outlive the index.
class NameIndex {
 public:
  NameIndex() = default;
  /// `name_of(record)` gives a view of each record's name.
  template <class Records, class NameOf>
  NameIndex(const Records& records, NameOf name_of) {
    entries_.reserve(records.size());
    for (size_t i = 0; i < records.size(); ++i) entries_.emplace_back(name_of(records[i]), i);
    std::sort(entries_.begin(), entries_.end());
  }

  std::optional<size_t> find(std::string_view name) const {
    const auto it = std::lower_bound(entries_.begin(), entries_.end(), std::pair(name, size_t(0)));
    if (it == entries_.end() || it->first != name) return std::nullopt;
    return it->second;
  }

  /// The records that carry one name, first in file order first; nothing if all names differ.
  std::optional<std::pair<size_t, size_t>> duplicate() const {
    const auto it = std::adjacent_find(entries_.begin(), entries_.end(),
                                       [](const auto& a, const auto& b) { return a.first == b.first; });
    if (it == entries_.end()) return std::nullopt;
    return std::pair(it->second, std::next(it)->second);
  }

 private:
  std::vector<std::pair<std::string_view, size_t>> entries_;
};

}  // namespace minfer::gguf
