#pragma once
#include <nlohmann/json.hpp>

#include "chat/jinja/value.h"

namespace minfer::chat::jinja {

/// JSON as values; all its strings, and the punctuation that its lists and dicts print with, are untrusted.
/// Throws Error{bad_request} for nesting beyond what the JSON parser lets in.
Value from_json(Runtime& runtime, const nlohmann::ordered_json& json);

}  // namespace minfer::chat::jinja
