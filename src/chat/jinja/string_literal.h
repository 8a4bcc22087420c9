#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace minfer::chat::jinja {

/// What the inside of a quoted string means: the escapes of Python's unicode-escape codec. Nothing, and a
/// message in `error`, for a broken escape.
std::optional<std::string> unescape(std::string_view text, std::string& error);

}  // namespace minfer::chat::jinja
