#include "download/safe_path.h"

#include <algorithm>

#include "gguf/printable.h"

namespace minfer::download {

bool is_safe_name(std::string_view name) {
  if (name.empty() || name.size() > 200 || name.front() == '.') return false;
  for (size_t at = 0; at < name.size();) {
    const unsigned char c = static_cast<unsigned char>(name[at]);
    if (c < 0x20 || c == 0x7f || c == '/' || c == '\\' || c == ':') return false;
    const size_t length = gguf::utf8_length(name.substr(at));
    if (length == 0) return false;
    // U+0080..U+009F are control characters too.
    if (length == 2 && c == 0xc2 && static_cast<unsigned char>(name[at + 1]) < 0xa0) return false;
    at += length;
  }
  return true;
}

bool is_safe_path(std::string_view path) {
  if (path.size() > 1000) return false;
  while (true) {
    const size_t slash = path.find('/');
    if (!is_safe_name(path.substr(0, slash))) return false;
    if (slash == path.npos) return true;
    path.remove_prefix(slash + 1);
  }
}

bool is_plain_identifier(std::string_view name) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_';
  };
  return is_safe_name(name) && std::all_of(name.begin(), name.end(), plain);
}

}  // namespace minfer::download
