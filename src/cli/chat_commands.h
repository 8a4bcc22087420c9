#pragma once
#include <string>
#include <string_view>

#include "engine/conversation.h"

namespace minfer::cli {

/// What a command asks of the chat beyond what it has done itself.
enum class Next { go_on, answer_again, leave };

/// Does a command line without its slash, such as `save notes.json`. What it has to say goes to stderr.
/// Throws Error{bad_request} for one that there is not, and what the command throws.
Next do_command(Conversation& conversation, std::string_view line);

}  // namespace minfer::cli
