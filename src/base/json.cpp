#include "base/json.h"

#include <fmt/format.h>

namespace minfer {

nlohmann::ordered_json parse_json(std::string_view text, std::string_view what, ErrorCode code) {
  using Json = nlohmann::ordered_json;
  if (text.size() > max_json_bytes)
    throw Error(code, fmt::format("{} has {} bytes, expected at most {}", what, text.size(), max_json_bytes));
  // The parser keeps its own stack and says how deep it is before it goes deeper.
  const auto check_depth = [&](int depth, Json::parse_event_t, Json&) {
    if (depth > max_json_depth)
      throw Error(code, fmt::format("{} nests deeper than {} levels", what, max_json_depth));
    return true;
  };
  try {
    return Json::parse(text.begin(), text.end(), check_depth);
  } catch (const Json::parse_error& error) {
    throw Error(code, fmt::format("{} is not valid JSON: something is wrong at byte {} of {}", what,
                                  error.byte, text.size()));
  }
}

}  // namespace minfer
