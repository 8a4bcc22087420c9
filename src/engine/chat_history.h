#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace minfer {

// What a conversation does to its list of messages. An exchange is a user's message and all up to the next
// one: answers, tool calls and tool results. System messages are those at the head.

/// Throws Error{bad_request} naming index and field unless this is a list of objects with a role each. The
/// rest of a message is the template's to judge.
void check_history(const nlohmann::ordered_json& messages);

/// Takes out the oldest exchange, system messages stay. False: there is but one, or none.
bool drop_oldest_exchange(nlohmann::ordered_json& messages);

/// Takes out what follows the last user's message. False, and no change, if there is none.
bool drop_last_answer(nlohmann::ordered_json& messages);

void keep_system_messages(nlohmann::ordered_json& messages);

/// Sets the text of the system message; empty: takes it out. Several at the head become one.
void set_system_message(nlohmann::ordered_json& messages, std::string_view text);

/// The text of the first system message; empty if there is none.
std::string system_message(const nlohmann::ordered_json& messages);

}  // namespace minfer
