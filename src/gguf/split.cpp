#include "gguf/split.h"

#include <fmt/format.h>

#include <charconv>

namespace minfer::gguf {
namespace {

std::optional<int> five_digits(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.size() != 5 || error != std::errc{} || end != text.data() + 5 || value < 1) return std::nullopt;
  return value;
}

}  // namespace

std::string SplitName::path_of(int part_number) const {
  return fmt::format("{}-{:05}-of-{:05}.gguf", prefix, part_number, parts);
}

std::optional<SplitName> parse_split_name(const std::string& path) {
  constexpr size_t tail = std::string_view("-00001-of-00001.gguf").size();
  if (path.size() < tail) return std::nullopt;
  const std::string_view end = std::string_view(path).substr(path.size() - tail);
  if (end[0] != '-' || end.substr(6, 4) != "-of-" || end.substr(15) != ".gguf") return std::nullopt;
  const auto part = five_digits(end.substr(1, 5)), parts = five_digits(end.substr(10, 5));
  if (!part || !parts || *part > *parts) return std::nullopt;
  return SplitName{path.substr(0, path.size() - tail), *part, *parts};
}

}  // namespace minfer::gguf
