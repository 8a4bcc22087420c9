#include "cli/text_input.h"

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <memory>

#include "base/error.h"

namespace minfer::cli {

std::string read_text_file(const std::string& path) {
  const auto close = [](std::FILE* open) { return open == stdin ? 0 : std::fclose(open); };
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(
      path == "-" ? stdin : std::fopen(path.c_str(), "rb"), close);
  if (!file) throw Error(ErrorCode::io, fmt::format("{}: cannot be opened: {}", path, std::strerror(errno)));
  std::string text, block(size_t(1) << 16, '\0');
  while (const size_t got = std::fread(block.data(), 1, block.size(), file.get())) {
    text.append(block, 0, got);
    if (text.size() > max_text_bytes)
      throw Error(ErrorCode::bad_request,
                  fmt::format("{}: more than {} MiB of text", path, max_text_bytes >> 20), "split the file");
  }
  if (std::ferror(file.get()))
    throw Error(ErrorCode::io, fmt::format("{}: cannot be read: {}", path, std::strerror(errno)));
  return text;
}

std::vector<Token> parse_ids(std::string_view text, std::string_view what) {
  constexpr std::string_view blanks = " \t\r\n";
  const auto trim = [&](std::string_view s) {
    const size_t first = s.find_first_not_of(blanks);
    return first == s.npos ? std::string_view() : s.substr(first, s.find_last_not_of(blanks) - first + 1);
  };
  text = trim(text);
  if (text.size() >= 2 && text.front() == '[' && text.back() == ']')
    text = trim(text.substr(1, text.size() - 2));
  std::vector<Token> ids;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find_first_of(" \t\r\n,"));
    Token id = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), id);
    if (error != std::errc() || end != word.data() + word.size())
      throw Error(ErrorCode::bad_request, fmt::format("{}: `{}` is no token id", what, word.substr(0, 40)),
                  "write ids as whole numbers, separated by spaces or commas");
    ids.push_back(id);
    text = trim(text.substr(word.size()));
    if (text.empty() || text.front() != ',') continue;
    text = trim(text.substr(1));
    if (text.empty())
      throw Error(ErrorCode::bad_request, fmt::format("{}: ends in a comma", what), "remove it");
  }
  return ids;
}

}  // namespace minfer::cli
