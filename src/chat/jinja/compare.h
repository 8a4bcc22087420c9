#pragma once
#include <compare>
#include <string_view>

#include "chat/jinja/value.h"

namespace minfer::chat::jinja {

/// Python's ==: numbers by value across types, containers item by item, all else by identity or type.
bool equal(Runtime& runtime, const Value& a, const Value& b);
/// Python's `is`.
bool same(const Value& a, const Value& b);
/// Python's order, for <, >, sort, min and max. Fails, naming `operation`, for values that have none.
/// Unordered: one is a NaN.
std::partial_ordering order(Runtime& runtime, const Value& a, const Value& b, std::string_view operation);
/// Equal values have equal hashes. Fails for lists, dicts and namespaces.
size_t hash_of(Runtime& runtime, const Value& value);
size_t hash_of(std::string_view text);
/// `item in container`.
bool contains(Runtime& runtime, const Value& container, const Value& item);

}  // namespace minfer::chat::jinja
