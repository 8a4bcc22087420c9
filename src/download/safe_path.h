#pragma once
#include <string_view>

namespace minfer::download {

/// Whether a name that a server or a user gave may become one component of a path in the cache: 1 to 200
/// bytes of valid UTF-8 without '/', '\', ':' or control characters, not beginning with a dot.
bool is_safe_name(std::string_view name);
/// Whether every component of a relative path is such a name, and the whole at most 1000 bytes.
bool is_safe_path(std::string_view path);
/// Whether `name` consists of ASCII letters, digits and the characters -._ as owners, repositories and tags
/// do, and is a safe name.
bool is_plain_identifier(std::string_view name);

}  // namespace minfer::download
