#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace minfer::cli {

/// The messages in a file: a JSON array of them, as the chat APIs have it. Throws Error{io} or
/// Error{bad_request} naming the file; what is in the messages is not checked.
nlohmann::ordered_json read_history(const std::string& path);

/// Writes them such that the file is whole at any time: the old one or the new one. Throws Error{io}.
void write_history(const std::string& path, const nlohmann::ordered_json& messages);

}  // namespace minfer::cli
