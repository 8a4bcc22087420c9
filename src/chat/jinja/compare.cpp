#include "chat/jinja/compare.h"

#include <cmath>
#include <functional>

#include "chat/jinja/iterate.h"
#include "chat/jinja/runtime.h"

namespace minfer::chat::jinja {
namespace {

/// Exact, though not every 64-bit integer is a double.
std::partial_ordering order_numbers(const Value& a, const Value& b) {
  if (!a.is_float() && !b.is_float()) return a.integer() <=> b.integer();
  if (a.is_float() && b.is_float()) return a.number() <=> b.number();
  if (a.is_float()) return 0 <=> order_numbers(b, a);
  const double right = b.number();
  if (std::isnan(right)) return std::partial_ordering::unordered;
  if (right >= 0x1p63) return std::partial_ordering::less;
  if (right < -0x1p63) return std::partial_ordering::greater;
  const double whole = std::trunc(right);
  const auto by_whole = a.integer() <=> int64_t(whole);
  return by_whole != 0 ? std::partial_ordering(by_whole) : 0.0 <=> right - whole;
}

bool equal_items(Runtime& runtime, const std::vector<Value>& a, const std::vector<Value>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (!same(a[i], b[i]) && !equal(runtime, a[i], b[i])) return false;
  return true;
}

bool equal_dicts(Runtime& runtime, const Dict& a, const Dict& b) {
  if (a.entries.size() != b.entries.size()) return false;
  for (const auto& [key, value] : a.entries) {
    const Value* other = b.find(key);
    if (!other || (!same(value, *other) && !equal(runtime, value, *other))) return false;
  }
  return true;
}

bool equal_ranges(const Range& a, const Range& b) {
  const int64_t length = a.length();
  if (length != b.length()) return false;
  return length == 0 || (a.start == b.start && (length == 1 || a.step == b.step));
}

bool equal_views(Runtime& runtime, const View& a, const View& b) {
  if (a.part == View::Part::values || a.part != b.part) return &a == &b;
  if (a.part == View::Part::items) return equal_dicts(runtime, *a.dict, *b.dict);
  if (a.dict->entries.size() != b.dict->entries.size()) return false;
  for (const auto& [key, value] : a.dict->entries)
    if (!b.dict->find(key)) return false;
  return true;
}

std::partial_ordering order_lists(Runtime& runtime, const List& a, const List& b,
                                  std::string_view operation) {
  const Runtime::Level level(runtime);
  const size_t shorter = std::min(a.items.size(), b.items.size());
  for (size_t i = 0; i < shorter; ++i) {
    runtime.step();
    if (!same(a.items[i], b.items[i]) && !equal(runtime, a.items[i], b.items[i]))
      return order(runtime, a.items[i], b.items[i], operation);
  }
  return a.items.size() <=> b.items.size();
}

size_t combine(size_t seed, size_t hash) { return seed * 1000003 ^ (hash + 0x9E3779B97F4A7C15ULL); }

}  // namespace

bool same(const Value& a, const Value& b) {
  if (a.is_object()) return b.is_object() && a.object() == b.object();
  if (a.is_string()) return b.is_string() && a.str_pointer() == b.str_pointer();
  if (a.is_none()) return b.is_none();
  if (a.is_bool()) return b.is_bool() && a.boolean() == b.boolean();
  if (a.is_undefined()) return b.is_undefined() && a.undefined().message == b.undefined().message;
  if (a.is_int()) return b.is_int() && a.integer() == b.integer();
  return false;
}

bool equal(Runtime& runtime, const Value& a, const Value& b) {
  runtime.step();
  if (a.is_number() && b.is_number()) return order_numbers(a, b) == 0;
  if (a.is_string() && b.is_string()) {
    if (a.str().bytes.size() == b.str().bytes.size()) runtime.step(a.str().bytes.size() / 32);
    return a.str().bytes == b.str().bytes;
  }
  if (a.is_undefined() || b.is_undefined()) return a.is_undefined() && b.is_undefined();
  if (a.is_none() || b.is_none()) return a.is_none() && b.is_none();
  if (!a.is_object() || !b.is_object()) return false;
  if (a.object() == b.object()) return true;
  if (a.object()->type != b.object()->type) return false;
  const Runtime::Level level(runtime);
  if (const auto* list = a.as<List>())
    return equal_items(runtime, list->items.values(), b.as<List>()->items.values());
  if (const auto* dict = a.as<Dict>()) return equal_dicts(runtime, *dict, *b.as<Dict>());
  if (const auto* range = a.as<Range>()) return equal_ranges(*range, *b.as<Range>());
  if (const auto* view = a.as<View>()) return equal_views(runtime, *view, *b.as<View>());
  return false;
}

std::partial_ordering order(Runtime& runtime, const Value& a, const Value& b, std::string_view operation) {
  runtime.step();
  for (const Value* value : {&a, &b})
    if (value->is_undefined()) runtime.fail(*value->undefined().message);
  if (a.is_number() && b.is_number()) return order_numbers(a, b);
  if (a.is_string() && b.is_string()) {
    runtime.step(std::min(a.str().bytes.size(), b.str().bytes.size()) / 32);
    return a.str().bytes.compare(b.str().bytes) <=> 0;
  }
  const auto *left = a.as<List>(), *right = b.as<List>();
  if (left && right && left->type == right->type) return order_lists(runtime, *left, *right, operation);
  runtime.fail(fmt::format("'{}' not supported between instances of '{}' and '{}'", operation, type_name(a),
                           type_name(b)));
}

size_t hash_of(std::string_view text) { return std::hash<std::string_view>()(text); }

size_t hash_of(Runtime& runtime, const Value& value) {
  if (value.is_string()) {
    runtime.step(value.str().bytes.size() / 32);
    return hash_of(value.str().bytes);
  }
  if (value.is_integral()) return std::hash<int64_t>()(value.integer());
  if (value.is_float()) {
    const double number = value.number();
    const bool whole = std::trunc(number) == number && number >= -0x1p63 && number < 0x1p63;
    return whole ? std::hash<int64_t>()(int64_t(number)) : std::hash<double>()(number);
  }
  if (value.is_none()) return 1;
  if (value.is_undefined()) return 2;
  if (const auto* tuple = value.as<List>(); tuple && tuple->type == ObjectType::tuple) {
    const Runtime::Level level(runtime);
    size_t hash = tuple->items.size();
    for (const Value& item : tuple->items) {
      runtime.step();
      hash = combine(hash, hash_of(runtime, item));
    }
    return hash;
  }
  if (value.as<List>() || value.as<Dict>())
    runtime.fail(fmt::format("unhashable type: '{}'", type_name(value)));
  return std::hash<const void*>()(value.object());
}

bool contains(Runtime& runtime, const Value& container, const Value& item) {
  if (container.is_string()) {
    if (container.str().parsed && item.is_string() && container.str().parsed->find(item.str().bytes))
      return true;
    if (!item.is_string())
      runtime.fail(fmt::format("'in <string>' requires string as left operand, not {}", type_name(item)));
    runtime.step(container.str().bytes.size() / 32);
    return find_text(container.str().bytes, item.str().bytes) != std::string::npos;
  }
  if (const auto* dict = container.as<Dict>()) return dict->find(item) != nullptr;
  if (const auto* view = container.as<View>(); view && view->part == View::Part::keys)
    return view->dict->find(item) != nullptr;
  if (const auto* list = container.as<List>()) {
    for (const Value& candidate : list->items)
      if (same(candidate, item) || equal(runtime, candidate, item)) return true;
    return false;
  }
  if (!iterable(container))
    runtime.fail(fmt::format("argument of type '{}' is not iterable", type_name(container)));
  for (const Value& candidate : items_of(runtime, container))
    if (same(candidate, item) || equal(runtime, candidate, item)) return true;
  return false;
}

}  // namespace minfer::chat::jinja
