#include "chat/jinja/runtime.h"

#include <algorithm>

#include "base/error.h"

namespace minfer::chat::jinja {

std::string describe_position(std::string_view source, Position at) {
  const std::string_view before = source.substr(0, at);
  const size_t line = 1 + size_t(std::count(before.begin(), before.end(), '\n'));
  const size_t line_start = before.rfind('\n') == before.npos ? 0 : before.rfind('\n') + 1;
  return fmt::format("line {}, column {}", line, 1 + count_code_points(before.substr(line_start)));
}

void fail_at(std::string_view source, Position at, const std::string& message) {
  throw Error(
      ErrorCode::bad_model, fmt::format("chat template, {}: {}", describe_position(source, at), message),
      "the template is part of the model file; --raw, or another conversion of the model, does without it");
}

void Runtime::fail(const std::string& message) const { fail_at(source_, at_, message); }

void Runtime::fail_limit(const std::string& what) const {
  throw Error(ErrorCode::bad_model,
              fmt::format("chat template, {}: it would need {}", describe_position(source_, at_), what),
              "no template for a conversation of this size should; it may be broken or hostile");
}

Value Runtime::tuple(std::initializer_list<Value> values) {
  Items items(*this);
  for (const Value& value : values) items.add(value);
  return tuple(std::move(items));
}

Value Runtime::text(std::string_view bytes, bool trusted) {
  TextBuilder builder(*this);
  builder.append(bytes, trusted);
  return builder.finish();
}

}  // namespace minfer::chat::jinja
