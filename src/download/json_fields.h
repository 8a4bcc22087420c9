#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/json.h"

namespace minfer::download {

/// A server's answer as JSON. Throws Error{io} with `hint`: what is wrong with it is not the user's doing.
inline nlohmann::ordered_json parse_answer(std::string_view text, std::string_view what,
                                           const std::string& hint) {
  try {
    return parse_json(text, what);
  } catch (const Error& error) {
    throw Error(ErrorCode::io, error.what(), hint);
  }
}

/// A number of bytes in a server's answer or a record. The library would turn -1 and 1e300 into one as well.
/// Throws std::exception if the field is absent or no whole number from 0 to 2^63 - 1.
inline uint64_t size_field(const nlohmann::ordered_json& json, const std::string& key) {
  const auto& field = json.at(key);
  if (!field.is_number_unsigned() || field.get<uint64_t>() > uint64_t(INT64_MAX))
    throw std::invalid_argument(key);
  return field.get<uint64_t>();
}

}  // namespace minfer::download
