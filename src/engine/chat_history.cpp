#include "engine/chat_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace minfer {
namespace {

using Json = nlohmann::ordered_json;

bool has_role(const Json& message, std::string_view role) { return message.at("role") == role; }

bool is_system(const Json& message) { return has_role(message, "system") || has_role(message, "developer"); }

/// Index of the first message that is not a system's.
size_t head_length(const Json& messages) {
  size_t i = 0;
  while (i < messages.size() && is_system(messages[i])) ++i;
  return i;
}

void erase(Json& messages, size_t begin, size_t end) {
  messages.erase(messages.begin() + std::ptrdiff_t(begin), messages.begin() + std::ptrdiff_t(end));
}

}  // namespace

void check_history(const Json& messages) {
  const auto refuse = [](const std::string& what) {
    throw Error(ErrorCode::bad_request, what,
                "a chat is a list of messages such as {\"role\": \"user\", \"content\": \"Hello\"}");
  };
  if (!messages.is_array())
    refuse(fmt::format("a chat is a list of messages, this is: {}", messages.type_name()));
  for (size_t i = 0; i < messages.size(); ++i) {
    if (!messages[i].is_object())
      refuse(fmt::format("message {} is no object, but: {}", i, messages[i].type_name()));
    const auto role = messages[i].find("role");
    if (role == messages[i].end() || !role->is_string())
      refuse(fmt::format("message {} has no `role` that is a string", i));
  }
}

bool drop_oldest_exchange(Json& messages) {
  const size_t begin = head_length(messages);
  size_t end = begin + 1;
  while (end < messages.size() && !has_role(messages[end], "user")) ++end;
  if (end >= messages.size()) return false;
  erase(messages, begin, end);
  return true;
}

bool drop_last_answer(Json& messages) {
  size_t end = messages.size();
  while (end > 0 && !has_role(messages[end - 1], "user")) --end;
  if (end == 0) return false;
  erase(messages, end, messages.size());
  return true;
}

void keep_system_messages(Json& messages) { erase(messages, head_length(messages), messages.size()); }

void set_system_message(Json& messages, std::string_view text) {
  erase(messages, 0, head_length(messages));
  if (!text.empty()) messages.insert(messages.begin(), Json{{"role", "system"}, {"content", text}});
}

std::string system_message(const Json& messages) {
  if (head_length(messages) == 0) return {};
  const auto content = messages[0].find("content");
  return content != messages[0].end() && content->is_string() ? content->get<std::string>() : std::string();
}

}  // namespace minfer
