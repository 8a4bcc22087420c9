#include "chat/messages.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"
#include "chat/jinja/from_json.h"
#include "chat/jinja/runtime.h"

namespace minfer::chat {
namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void refuse(size_t index, std::string_view field, std::string_view found,
                         std::string_view hint = {}) {
  throw Error(ErrorCode::bad_request, fmt::format("messages[{}].{}: {}", index, field, found),
              std::string(hint));
}

/// The text of one part of a content list.
const std::string& text_of_part(const Json& part, size_t index, size_t part_index) {
  const std::string field = fmt::format("content[{}]", part_index);
  if (!part.is_object())
    refuse(index, field, fmt::format("an object is expected, found {}", part.type_name()));
  const auto type = part.find("type");
  if (type == part.end() || !type->is_string())
    refuse(index, field, "it has no type; {\"type\": \"text\"} is expected");
  if (*type != "text")
    refuse(index, field + ".type",
           fmt::format("\"{}\" is not supported; only text is", type->get_ref<const std::string&>()),
           "this model reads text only; leave the other parts out");
  const auto text = part.find("text");
  if (text == part.end() || !text->is_string()) refuse(index, field + ".text", "a string is expected");
  return text->get_ref<const std::string&>();
}

Json normalised_content(const Json& message, size_t index, bool keep_text_parts) {
  const auto content = message.find("content");
  if (content == message.end() || content->is_null()) return "";
  if (content->is_string()) return *content;
  if (!content->is_array())
    refuse(index, "content",
           fmt::format("a string or a list of parts is expected, found {}", content->type_name()));
  std::string text;
  for (size_t i = 0; i < content->size(); ++i) {
    if (i > 0) text += '\n';
    text += text_of_part((*content)[i], index, i);
  }
  return keep_text_parts ? *content : Json(text);
}

void check_tool_calls(const Json& message, size_t index) {
  const auto calls = message.find("tool_calls");
  if (calls == message.end() || calls->is_null()) return;
  if (!calls->is_array())
    refuse(index, "tool_calls", fmt::format("a list is expected, found {}", calls->type_name()));
  for (size_t i = 0; i < calls->size(); ++i) {
    const std::string field = fmt::format("tool_calls[{}]", i);
    const Json& call = (*calls)[i];
    if (!call.is_object())
      refuse(index, field, fmt::format("an object is expected, found {}", call.type_name()));
    const auto nested = call.find("function");
    const Json& function = nested == call.end() ? call : *nested;
    if (!function.is_object()) refuse(index, field + ".function", "an object is expected");
    const auto name = function.find("name");
    if (name == function.end() || !name->is_string())
      refuse(index, field + ".function.name", "a string is expected");
  }
}

Json normalised_message(const Json& message, size_t index, bool keep_text_parts) {
  if (!message.is_object())
    throw Error(ErrorCode::bad_request,
                fmt::format("messages[{}]: an object is expected, found {}", index, message.type_name()));
  const auto role = message.find("role");
  if (role == message.end() || !role->is_string())
    refuse(index, "role", "a string is expected, e.g. \"user\"");
  check_tool_calls(message, index);
  Json result = message;
  result["content"] = normalised_content(message, index, keep_text_parts);
  // As good as absent, and templates ask only whether they are there.
  for (const std::string_view field : {"tool_calls", "tool_call_id", "name", "reasoning_content"}) {
    const auto found = result.find(field);
    if (found != result.end() && found->is_null()) result.erase(found);
  }
  return result;
}

bool is_known_role(std::string_view role) {
  constexpr std::string_view known[] = {"system",   "user",  "assistant", "tool",  "developer",
                                        "function", "model", "ipython",   "tools", "tool_response"};
  return std::find(std::begin(known), std::end(known), role) != std::end(known);
}

jinja::Value* find_entry(const jinja::Value& value, std::string_view key) {
  auto* dict = value.as<jinja::Dict>();
  if (!dict) return nullptr;
  for (auto& [name, entry] : dict->entries)
    if (name.is_string() && name.str().bytes == key) return &entry;
  return nullptr;
}

/// Gives the arguments of a tool call, if they are an object in a string, the object besides.
void attach_object(jinja::Runtime& runtime, const jinja::Value& call) {
  const jinja::Value* nested = find_entry(call, "function");
  jinja::Value* arguments = find_entry(nested ? *nested : call, "arguments");
  if (!arguments || !arguments->is_string()) return;
  const auto json = try_parse_json(arguments->str().bytes);
  if (!json || !json->is_object()) return;
  jinja::TextBuilder copy(runtime);
  copy.append(arguments->str());
  *arguments = copy.finish(false, jinja::from_json(runtime, *json).as<jinja::Dict>());
}

}  // namespace

Json normalise_messages(const Json& messages, bool keep_text_parts) {
  if (!messages.is_array())
    throw Error(ErrorCode::bad_request,
                fmt::format("messages: a list is expected, found {}", messages.type_name()),
                R"(e.g. [{"role": "user", "content": "Hello"}])");
  Json result = Json::array();
  for (size_t i = 0; i < messages.size(); ++i)
    result.push_back(normalised_message(messages[i], i, keep_text_parts));
  return result;
}

jinja::Value message_values(jinja::Runtime& runtime, const Json& messages) {
  const jinja::Value values = jinja::from_json(runtime, messages);
  for (const jinja::Value& message : values.as<jinja::List>()->items) {
    if (jinja::Value* role = find_entry(message, "role");
        role && role->is_string() && is_known_role(role->str().bytes))
      *role = runtime.text(role->str().bytes, true);
    const jinja::Value* calls = find_entry(message, "tool_calls");
    const auto* list = calls ? calls->as<jinja::List>() : nullptr;
    if (!list) continue;
    for (const jinja::Value& call : list->items) attach_object(runtime, call);
  }
  return values;
}

}  // namespace minfer::chat
