#include "gguf/split_name.h"

#include <fmt/format.h>

#include <charconv>

namespace minfer::gguf {
namespace {

std::optional<int> five_digits(std::string_view text) {
  for (char c : text)
    if (c < '0' || c > '9') return std::nullopt;
  int number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

std::string SplitName::path_of(int part_number) const {
  return fmt::format("{}-{:05}-of-{:05}.gguf", prefix, part_number, count);
}

std::optional<SplitName> parse_split_name(std::string_view path) {
  constexpr std::string_view form = "-00000-of-00000.gguf";
  if (path.size() <= form.size()) return std::nullopt;
  const std::string_view tail = path.substr(path.size() - form.size());
  if (tail[0] != '-' || tail.substr(6, 4) != "-of-" || tail.substr(15) != ".gguf") return std::nullopt;
  const auto number = five_digits(tail.substr(1, 5)), count = five_digits(tail.substr(10, 5));
  if (!number || !count || *number < 1 || *number > *count) return std::nullopt;
  return SplitName{std::string(path.substr(0, path.size() - form.size())), *number, *count};
}

}  // namespace minfer::gguf
