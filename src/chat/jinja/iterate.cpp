#include "chat/jinja/iterate.h"

#include "chat/jinja/runtime.h"

namespace minfer::chat::jinja {
namespace {

void add_characters(Runtime& runtime, const Str& str, Items& items) {
  for (size_t at = 0; at < str.bytes.size();) {
    const size_t end = at + char_bytes(str.bytes[at]);
    TextBuilder builder(runtime);
    builder.append(str, at, end);
    items.add(builder.finish());  // of markup too: Python's iterator gives plain strings
    at = end;
  }
}

}  // namespace

bool iterable(const Value& value) {
  if (value.is_undefined() || value.is_string()) return true;
  if (!value.is_object()) return false;
  switch (value.object()->type) {
    case ObjectType::list:
    case ObjectType::tuple:
    case ObjectType::dict:
    case ObjectType::range:
    case ObjectType::view:
    case ObjectType::iterator:
    case ObjectType::loop:
      return true;
    default:
      return false;
  }
}

Value view_item(Runtime& runtime, const View& view, size_t i) {
  const auto& [key, value] = view.dict->entries[i];
  if (view.part == View::Part::keys) return key;
  if (view.part == View::Part::values) return value;
  return runtime.tuple({key, value});
}

Items items_of(Runtime& runtime, const Value& value) {
  Items items(runtime);
  if (value.is_undefined()) return items;
  if (value.is_string()) {
    add_characters(runtime, value.str(), items);
  } else if (const auto* list = value.as<List>()) {
    for (const Value& item : list->items) items.add(item);
  } else if (const auto* dict = value.as<Dict>()) {
    for (const auto& entry : dict->entries) items.add(entry.first);
  } else if (const auto* range = value.as<Range>()) {
    for (int64_t i = 0, n = range->length(); i < n; ++i) items.add(range->at(i));
  } else if (const auto* view = value.as<View>()) {
    for (size_t i = 0; i < view->dict->entries.size(); ++i) items.add(view_item(runtime, *view, i));
  } else if (auto* iterator = value.as<Iterator>()) {
    while (iterator->next < iterator->items.size()) items.add(iterator->items[iterator->next++]);
  } else if (auto* loop = value.as<Loop>()) {
    // Python gives pairs of item and loop here; no template does this on purpose.
    for (size_t i = loop->index0 + 1; i < loop->items.size(); ++i)
      items.add(runtime.tuple({loop->items[i], value}));
  } else {
    runtime.fail(fmt::format("'{}' object is not iterable", type_name(value)));
  }
  return items;
}

std::optional<int64_t> length_of(const Value& value) {
  if (value.is_undefined()) return 0;
  if (value.is_string()) return int64_t(value.str().length());
  if (const auto* list = value.as<List>()) return int64_t(list->items.size());
  if (const auto* dict = value.as<Dict>()) return int64_t(dict->entries.size());
  if (const auto* view = value.as<View>()) return int64_t(view->dict->entries.size());
  if (const auto* range = value.as<Range>()) return range->length();
  if (const auto* loop = value.as<Loop>()) return int64_t(loop->items.size());
  return std::nullopt;
}

}  // namespace minfer::chat::jinja
