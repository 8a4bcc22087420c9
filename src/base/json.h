#pragma once
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string_view>

#include "base/error.h"

namespace minfer {

/// Nested arrays and objects that JSON from outside may have: copying and printing a tree recurse.
inline constexpr int max_json_depth = 128;
/// Keys of one object: adding one looks at all others.
inline constexpr size_t max_json_keys = 16'384;
/// Bytes of one JSON text.
inline constexpr size_t max_json_bytes = size_t(256) << 20;

/// JSON from a file, a request or a model; keys keep their order. All such text is parsed here and nowhere
/// else. `what` names it in messages. Throws Error{code} for text that is no JSON, with line and column, and
/// for more than max_json_depth levels, max_json_keys keys or max_json_bytes.
nlohmann::ordered_json parse_json(std::string_view text, std::string_view what,
                                  ErrorCode code = ErrorCode::bad_request);

/// The same, nothing where that throws.
std::optional<nlohmann::ordered_json> try_parse_json(std::string_view text);

}  // namespace minfer
