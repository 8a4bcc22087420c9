#pragma once
#include <optional>

#include "chat/jinja/value.h"

namespace minfer::chat::jinja {

/// Whether Python's iter() takes the value.
bool iterable(const Value& value);
/// Everything iterating over the value gives: characters, items, keys. Consumes an iterator. Fails for a
/// value that is not iterable.
Items items_of(Runtime& runtime, const Value& value);
/// len(), if the value has one.
std::optional<int64_t> length_of(const Value& value);
/// Entry `i` of a dict as a view gives it.
Value view_item(Runtime& runtime, const View& view, size_t i);

}  // namespace minfer::chat::jinja
