#include "cli/json_text.h"

#include <nlohmann/json.hpp>

namespace minfer::cli {

std::string json_line(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace minfer::cli
