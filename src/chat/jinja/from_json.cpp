#include "chat/jinja/from_json.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"
#include "chat/jinja/runtime.h"
#include "tokenizer/utf8.h"

namespace minfer::chat::jinja {
namespace {

Value text_of(Runtime& runtime, const std::string& text) {
  if (utf8::valid_prefix(text) != text.size())
    throw Error(ErrorCode::bad_request, "a message holds text that is no UTF-8", "send text as UTF-8");
  return runtime.text(text, false);
}

Value convert(Runtime& runtime, const nlohmann::ordered_json& json, int nesting) {
  if (nesting > max_json_depth)
    throw Error(ErrorCode::bad_request, fmt::format("a message nests deeper than {} levels", max_json_depth));
  switch (json.type()) {
    case nlohmann::json::value_t::boolean:
      return json.get<bool>();
    case nlohmann::json::value_t::number_integer:
      return json.get<int64_t>();
    case nlohmann::json::value_t::number_unsigned:
      if (json.get<uint64_t>() > uint64_t(std::numeric_limits<int64_t>::max()))
        throw Error(ErrorCode::bad_request,
                    fmt::format("the number {} in a message does not fit 64 bits", json.get<uint64_t>()));
      return int64_t(json.get<uint64_t>());
    case nlohmann::json::value_t::number_float:
      return json.get<double>();
    case nlohmann::json::value_t::string:
      return text_of(runtime, json.get_ref<const std::string&>());
    case nlohmann::json::value_t::array: {
      Items items(runtime);
      for (const auto& item : json) items.add(convert(runtime, item, nesting + 1));
      auto* list = runtime.make<List>(ObjectType::list, std::move(items));
      list->trusted = false;
      return list;
    }
    case nlohmann::json::value_t::object: {
      auto* dict = runtime.make<Dict>(runtime);
      dict->trusted = false;
      for (const auto& [key, value] : json.items())
        dict->set(text_of(runtime, key), convert(runtime, value, nesting + 1));
      return dict;
    }
    default:
      return Value();
  }
}

}  // namespace

Value from_json(Runtime& runtime, const nlohmann::ordered_json& json) { return convert(runtime, json, 0); }

std::optional<Value> from_json_text(Runtime& runtime, std::string_view text) {
  const auto json = try_parse_json(text);
  if (!json) return std::nullopt;
  return from_json(runtime, *json);
}

}  // namespace minfer::chat::jinja
