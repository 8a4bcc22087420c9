#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace minfer::cli {

/// One line of JSON. Bytes that are no UTF-8 (a token may be half a character, a file may hold anything)
/// become U+FFFD: the line is valid JSON whatever the model says.
std::string json_line(const nlohmann::ordered_json& json);

}  // namespace minfer::cli
