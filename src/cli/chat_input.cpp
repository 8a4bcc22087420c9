#include "cli/chat_input.h"

namespace minfer::cli {
namespace {

constexpr std::string_view fence = "\"\"\"";
constexpr const char *first_prompt = "> ", *next_prompt = ". ";

/// A message in fences, whose first line has been read.
Entry read_fenced(LineSource& source, std::string line) {
  std::string text;
  line.erase(0, fence.size());
  bool has_lines = false;
  for (bool first = true;; first = false) {
    const bool closed = line.ends_with(fence);
    if (closed) line.resize(line.size() - fence.size());
    const bool fence_alone = line.empty() && (first || closed);  // on a line of its own it adds none
    if (!fence_alone) {
      if (has_lines) text += '\n';
      text += line;
      has_lines = true;
    }
    if (closed) break;
    Line next = source.read(next_prompt);
    if (next.kind == Line::Kind::interrupted) return {Entry::Kind::interrupted, {}};
    if (next.kind == Line::Kind::end) break;
    line = std::move(next.text);
  }
  return {Entry::Kind::message, std::move(text)};
}

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t") == text.npos; }

}  // namespace

Entry read_entry(LineSource& source) {
  Line line = source.read(first_prompt);
  while (line.kind == Line::Kind::text && is_blank(line.text)) line = source.read(first_prompt);
  if (line.kind == Line::Kind::interrupted) return {Entry::Kind::interrupted, {}};
  if (line.kind == Line::Kind::end) return {Entry::Kind::end, {}};
  if (line.text.starts_with(fence)) return read_fenced(source, std::move(line.text));
  std::string text = std::move(line.text);
  while (text.ends_with('\\')) {
    text.back() = '\n';
    line = source.read(next_prompt);
    if (line.kind == Line::Kind::interrupted) return {Entry::Kind::interrupted, {}};
    if (line.kind == Line::Kind::end) break;
    text += line.text;
  }
  if (text.front() == '/') return {Entry::Kind::command, text.substr(1)};
  return {Entry::Kind::message, std::move(text)};
}

}  // namespace minfer::cli
