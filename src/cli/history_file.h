#pragma once
#include <string>

#include "engine/conversation.h"

namespace minfer::cli {

/// Goes on with the messages in a file: a JSON array of them, as the chat APIs have it. Throws Error{io} or
/// Error{bad_request} naming the file, and what Conversation::set_messages throws.
void load_history(Conversation& conversation, const std::string& path);

/// Writes the messages such that the file is whole at any time: the old one or the new one. Throws Error{io}.
void save_history(const Conversation& conversation, const std::string& path);

}  // namespace minfer::cli
