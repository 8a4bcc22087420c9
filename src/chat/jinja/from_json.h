#pragma once
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string_view>

#include "chat/jinja/value.h"

namespace minfer::chat::jinja {

/// JSON as values; all its strings, and the punctuation that its lists and dicts print with, are untrusted.
/// Throws Error{bad_request} for nesting beyond what the JSON parser lets in.
Value from_json(Runtime& runtime, const nlohmann::ordered_json& json);
/// The same of JSON text; nothing if it is no JSON.
std::optional<Value> from_json_text(Runtime& runtime, std::string_view text);

}  // namespace minfer::chat::jinja
