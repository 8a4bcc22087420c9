#pragma once
#include <nlohmann/json_fwd.hpp>

#include "chat/jinja/value.h"

namespace minfer::chat {

/// OpenAI-style messages as a template takes them. Checked: an array of objects, each with a role (string).
/// `content`: absent and null become ""; a list of parts becomes their texts, one a line, unless
/// `keep_text_parts` leaves the list to a template that goes over it. Everything else stays as it is.
/// Throws Error{bad_request} naming index and field, and naming a kind of part that is no text.
nlohmann::ordered_json normalise_messages(const nlohmann::ordered_json& messages, bool keep_text_parts);

/// Normalised messages as values: text is untrusted, but the names of known roles are trusted, since
/// templates build control tokens from them. Arguments of tool calls that are JSON in a string are both: the
/// string where they are printed, the object where a template goes over them or writes them with tojson.
jinja::Value message_values(jinja::Runtime& runtime, const nlohmann::ordered_json& messages);

}  // namespace minfer::chat
