#pragma once
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/error.h"

namespace minfer {

/// How deep JSON from outside may nest, and how large it may be. Copying or printing what nests deeper could
/// overflow the stack; no file, request or server answer that we read comes near either.
inline constexpr int max_json_depth = 128;
inline constexpr size_t max_json_bytes = size_t(64) << 20;

/// The one way in for JSON that we did not write: the order of keys is kept. `what` names the text in
/// messages. Throws Error{code}, naming the byte, if it is no JSON, nests too deep or is too large.
nlohmann::ordered_json parse_json(std::string_view text, std::string_view what,
                                  ErrorCode code = ErrorCode::bad_request);

}  // namespace minfer
