#pragma once
#include <nlohmann/json.hpp>
#include <string>

namespace minfer::cli {

/// One line of JSON. Bytes that are no UTF-8 (a token may be half a character, a file may hold anything)
/// become U+FFFD: the line is valid JSON whatever the model says.
inline std::string json_line(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace minfer::cli
