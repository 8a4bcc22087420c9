#include "base/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

namespace minfer {
namespace {

/// "line 2, column 7" of a byte, both from 1.
std::string position(std::string_view text, size_t byte) {
  const std::string_view before = text.substr(0, byte > 0 ? byte - 1 : 0);
  const size_t newline = before.rfind('\n');
  return fmt::format("line {}, column {}", 1 + std::count(before.begin(), before.end(), '\n'),
                     newline == before.npos ? before.size() + 1 : before.size() - newline);
}

}  // namespace

nlohmann::ordered_json parse_json(std::string_view text, std::string_view what, ErrorCode code) {
  using Json = nlohmann::ordered_json;
  if (text.size() > max_json_bytes)
    throw Error(code, fmt::format("{}: more than {} MiB of JSON", what, max_json_bytes >> 20));
  std::array<size_t, max_json_depth + 1> keys{};  // of the object open at each level
  const auto check_limits = [&](int depth, Json::parse_event_t event, Json&) {
    const bool opens =
        event == Json::parse_event_t::object_start || event == Json::parse_event_t::array_start;
    if (opens && depth >= max_json_depth)
      throw Error(code, fmt::format("{}: JSON of more than {} levels", what, max_json_depth));
    if (event == Json::parse_event_t::object_start) keys[size_t(depth) + 1] = 0;
    if (event == Json::parse_event_t::key && ++keys[size_t(depth)] > max_json_keys)
      throw Error(code, fmt::format("{}: a JSON object of more than {} keys", what, max_json_keys));
    return true;
  };
  try {
    return Json::parse(text.begin(), text.end(), check_limits);
  } catch (const Json::parse_error& error) {
    throw Error(code, fmt::format("{}: no JSON: a mistake at {}", what, position(text, error.byte)),
                "check quotes, commas and brackets there");
  } catch (const Json::exception& error) {
    throw Error(code, fmt::format("{}: JSON that cannot be read: {}", what, error.what()));
  }
}

std::optional<nlohmann::ordered_json> try_parse_json(std::string_view text) {
  try {
    return parse_json(text, "text");
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace minfer
