#pragma once
#include <optional>
#include <string>

namespace minfer::gguf {

/// "dir/NAME-00002-of-00005.gguf" taken apart; `part` counts from 1.
struct SplitName {
  std::string prefix;
  int part = 0, parts = 0;
  std::string path_of(int part_number) const;  ///< of another part, counted from 1
};

/// Nothing if `path` does not follow the pattern PREFIX-NNNNN-of-NNNNN.gguf with five digits each.
std::optional<SplitName> parse_split_name(const std::string& path);

}  // namespace minfer::gguf
