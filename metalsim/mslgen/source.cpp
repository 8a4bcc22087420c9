#include "source.h"

#include <algorithm>
#include <fstream>

namespace metalsim::mslgen {

SourceError::SourceError(const Place& place, const std::string& message)
    : std::runtime_error(place.file + ":" + std::to_string(place.line) + ":" + std::to_string(place.column) +
                         ": error: " + message) {}

namespace {

/// Reads `# 12 "file" flags`. False for any other line.
bool read_marker(std::string_view line, uint32_t& number, std::string& file) {
  size_t at = 0;
  const auto skip_spaces = [&] {
    while (at < line.size() && line[at] == ' ') ++at;
  };
  if (line.empty() || line[at++] != '#') return false;
  skip_spaces();
  if (line.substr(at, 4) == "line") at += 4;
  skip_spaces();
  const size_t digits = at;
  uint64_t value = 0;
  while (at < line.size() && is_digit(line[at]))
    value = std::min<uint64_t>(value * 10 + uint64_t(line[at++] - '0'), 1u << 30);
  if (at == digits) return false;
  skip_spaces();
  if (at >= line.size() || line[at] != '"') return false;
  file.clear();
  for (++at; at < line.size() && line[at] != '"'; ++at) {
    if (line[at] == '\\' && at + 1 < line.size()) ++at;
    file += line[at];
  }
  number = uint32_t(value);
  return true;
}

/// Line `number` of a file, empty if there is none.
std::string read_line(const std::string& path, uint32_t number) {
  std::ifstream in(path);
  std::string line;
  for (uint32_t i = 0; i < number && std::getline(in, line); ++i)
    if (i + 1 == number) return line;
  return {};
}

/// Offset of the word or sign `what` in `line`, from `from`; npos if it is not there.
size_t find_token(std::string_view line, std::string_view what, size_t from) {
  for (size_t at = line.find(what, from); at != std::string_view::npos; at = line.find(what, at + 1)) {
    const bool joined_before = at > 0 && is_word(line[at - 1]) && is_word(what.front());
    const size_t end = at + what.size();
    const bool joined_after = end < line.size() && is_word(line[end]) && is_word(what.back());
    if (!joined_before && !joined_after) return at;
  }
  return std::string_view::npos;
}

}  // namespace

Source::Source(std::string text) : text_(std::move(text)) {
  files_.push_back("<unknown>");
  uint32_t file = 0, number = 1;
  std::string name;
  for (size_t begin = 0; begin < text_.size();) {
    size_t end = text_.find('\n', begin);
    if (end == std::string::npos) end = text_.size();
    lines_.push_back({begin, file, number});
    if (read_marker(std::string_view(text_).substr(begin, end - begin), number, name)) {
      const auto known = std::find(files_.begin(), files_.end(), name);
      file = uint32_t(known - files_.begin());
      if (known == files_.end()) files_.push_back(name);
      if (main_file_.empty() && name.front() != '<') main_file_ = name;
    } else {
      ++number;
    }
    begin = end + 1;
  }
  if (lines_.empty()) lines_.push_back({0, 0, 1});
}

const Source::Line& Source::line_at(size_t offset) const {
  const auto after = std::upper_bound(lines_.begin(), lines_.end(), offset,
                                      [](size_t value, const Line& line) { return value < line.begin; });
  return after == lines_.begin() ? lines_.front() : *(after - 1);
}

Place Source::place(size_t begin, size_t end) const {
  const Line& line = line_at(begin);
  Place place{files_[line.file], line.number, 1};
  const std::string_view what = std::string_view(text_).substr(begin, end - begin);
  const std::string_view before = std::string_view(text_).substr(line.begin, begin - line.begin);
  const std::string original = read_line(place.file, place.line);
  if (what.empty() || original.empty()) return place;

  // The token is the nth of its spelling in the line, both here and in the file.
  size_t from = 0;
  for (size_t at = find_token(before, what, 0); at != std::string_view::npos;
       at = find_token(before, what, at + 1)) {
    const size_t same = find_token(original, what, from);
    if (same == std::string_view::npos) break;
    from = same + 1;
  }
  const size_t found = find_token(original, what, from);
  if (found != std::string_view::npos) place.column = uint32_t(found) + 1;
  return place;
}

}  // namespace metalsim::mslgen
