#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace minfer::gguf {

/// The name of one part of a split model: PREFIX-00001-of-00003.gguf, numbers from 1.
struct SplitName {
  std::string prefix;  ///< folder included
  int number, count;

  std::string path() const { return path_of(number); }
  std::string path_of(int part_number) const;
};

/// Reads such a name; nothing if `path` has another form or a number out of 1..count.
std::optional<SplitName> parse_split_name(std::string_view path);

}  // namespace minfer::gguf
