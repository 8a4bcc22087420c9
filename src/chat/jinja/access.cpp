// Subscripts, slices and attributes.
#include <algorithm>

#include "chat/jinja/iterate.h"
#include "chat/jinja/operators.h"
#include "chat/jinja/print.h"
#include "chat/jinja/runtime.h"

namespace minfer::chat::jinja {
namespace {

/// What the sandbox refuses: methods that change their object.
bool changes_object(const Value& object, std::string_view name) {
  static constexpr std::string_view of_lists[] = {"append", "clear", "pop",    "reverse",
                                                  "insert", "sort",  "extend", "remove"};
  static constexpr std::string_view of_dicts[] = {"clear", "pop", "popitem", "setdefault", "update"};
  const auto* list = object.as<List>();
  if (list && list->type == ObjectType::list)
    return std::find(std::begin(of_lists), std::end(of_lists), name) != std::end(of_lists);
  return object.as<Dict>() && std::find(std::begin(of_dicts), std::end(of_dicts), name) != std::end(of_dicts);
}

/// A name as messages show it.
std::string_view shortened(std::string_view name) { return name.substr(0, skip_code_points(name, 0, 80)); }

Value unsafe_attribute(const Value& object, std::string_view name) {
  return undefined(fmt::format("access to attribute {} of {} object is unsafe.", quoted(shortened(name)),
                               quoted(type_name(object))));
}

std::optional<Value> loop_attribute(const Loop& loop, std::string_view name) {
  const int64_t index0 = int64_t(loop.index0), length = int64_t(loop.items.size());
  if (name == "index") return Value(index0 + 1);
  if (name == "index0") return Value(index0);
  if (name == "first") return Value(index0 == 0);
  if (name == "last") return Value(index0 + 1 >= length);
  if (name == "length") return Value(length);
  if (name == "revindex") return Value(length - index0);
  if (name == "revindex0") return Value(length - index0 - 1);
  if (name == "depth") return Value(loop.depth0 + 1);
  if (name == "depth0") return Value(loop.depth0);
  if (name == "previtem")
    return index0 > 0 ? loop.items[size_t(index0 - 1)] : undefined("there is no previous item");
  if (name == "nextitem")
    return index0 + 1 < length ? loop.items[size_t(index0 + 1)] : undefined("there is no next item");
  return std::nullopt;
}

std::optional<Value> macro_attribute(Runtime& runtime, const Macro& macro, std::string_view name) {
  if (name == "name") return macro.name.empty() ? Value() : runtime.text(macro.name);
  if (name == "caller") return Value(macro.definition.uses_caller);
  if (name == "catch_kwargs") return Value(macro.definition.uses_kwargs);
  if (name == "catch_varargs") return Value(macro.definition.uses_varargs);
  if (name != "arguments") return std::nullopt;
  Items items(runtime);
  for (const std::string& parameter : macro.definition.parameters) items.add(runtime.text(parameter));
  return runtime.list(std::move(items));
}

/// What is no method: a namespace's own names, and fields of a few types.
std::optional<Value> find_field(Runtime& runtime, const Value& object, std::string_view name) {
  if (const auto* ns = object.as<Namespace>()) {
    const Value* value = ns->attributes->find(name);
    return value ? std::optional<Value>(*value) : std::nullopt;
  }
  if (const auto* loop = object.as<Loop>()) return loop_attribute(*loop, name);
  if (const auto* macro = object.as<Macro>()) return macro_attribute(runtime, *macro, name);
  if (const auto* range = object.as<Range>()) {
    if (name == "start") return Value(range->start);
    if (name == "stop") return Value(range->stop);
    if (name == "step") return Value(range->step);
  }
  if (const auto* cycler = object.as<Cycler>()) {
    if (name == "current") return cycler->items[cycler->position];
    if (name == "pos") return Value(int64_t(cycler->position));
  }
  if (const auto* list = object.as<List>(); list && list->is_group) {
    if (name == "grouper") return list->items[0];
    if (name == "list") return list->items[1];
  }
  if (object.is_number() && (name == "real" || (name == "numerator" && !object.is_float())))
    return object.is_bool() ? Value(object.integer()) : object;
  return std::nullopt;
}

/// `index` counted from the end if negative; nothing if there is no such item.
std::optional<size_t> item_index(int64_t index, int64_t length) {
  if (index < 0) index += length;
  if (index < 0 || index >= length) return std::nullopt;
  return size_t(index);
}

Value character_at(Runtime& runtime, const Str& str, size_t index) {
  runtime.step(index / 64);
  const size_t begin = str.ascii ? index : skip_code_points(str.bytes, 0, index);
  TextBuilder out(runtime);
  out.append(str, begin, begin + char_bytes(str.bytes[begin]));
  return out.finish(str.markup);
}

/// The item of a sequence or dict; nothing if there is none or the index is of a wrong type.
std::optional<Value> find_item(Runtime& runtime, const Value& object, const Value& index) {
  if (const auto* dict = object.as<Dict>()) {
    const Value* value = hashable(index) ? dict->find(index) : nullptr;
    return value ? std::optional<Value>(*value) : std::nullopt;
  }
  if (object.is_string() && object.str().parsed && index.is_string()) {
    const Value* value = object.str().parsed->find(index.str().bytes);
    return value ? std::optional<Value>(*value) : std::nullopt;
  }
  if (!index.is_integral()) return std::nullopt;
  if (object.is_string()) {
    const auto at = item_index(index.integer(), int64_t(object.str().length()));
    return at ? std::optional<Value>(character_at(runtime, object.str(), *at)) : std::nullopt;
  }
  if (const auto* list = object.as<List>()) {
    const auto at = item_index(index.integer(), int64_t(list->items.size()));
    return at ? std::optional<Value>(list->items[*at]) : std::nullopt;
  }
  if (const auto* range = object.as<Range>()) {
    const auto at = item_index(index.integer(), range->length());
    return at ? std::optional<Value>(range->at(int64_t(*at))) : std::nullopt;
  }
  return std::nullopt;
}

/// The bounds of a slice over `length` items, as Python adjusts them.
struct Slice {
  int64_t start, stop, step, count;
};

Slice adjust(int64_t length, const Value& start, const Value& stop, int64_t step) {
  const int64_t lowest = step < 0 ? -1 : 0, highest = step < 0 ? length - 1 : length;
  const auto bound = [&](const Value& value, int64_t otherwise) {
    if (value.is_none()) return otherwise;
    const int64_t index = value.integer() < 0 ? value.integer() + length : value.integer();
    return std::clamp(index, lowest, highest);
  };
  Slice slice{bound(start, step < 0 ? highest : lowest), bound(stop, step < 0 ? lowest : highest), step, 0};
  slice.count = Range(slice.start, slice.stop, step).length();
  return slice;
}

Value slice_range(Runtime& runtime, const Range& range, const Slice& slice) {
  const int64_t first = range.at(slice.start);
  if (slice.count < 2) return runtime.make<Range>(first, slice.count == 0 ? first : first + 1, int64_t(1));
  const int64_t step = int64_t(uint64_t(range.step) * uint64_t(slice.step));
  return runtime.make<Range>(first, int64_t(uint64_t(first) + uint64_t(slice.count) * uint64_t(step)), step);
}

Value slice_text(Runtime& runtime, const Str& str, const Slice& slice) {
  TextBuilder out(runtime);
  if (slice.count == 0) return out.finish(str.markup);
  const auto byte_of = [&](int64_t index) {
    return str.ascii ? size_t(index) : skip_code_points(str.bytes, 0, size_t(index));
  };
  runtime.step(str.bytes.size() / 64);
  size_t at = byte_of(slice.start);
  if (slice.step == 1) {
    out.append(str, at,
               str.ascii ? at + size_t(slice.count) : skip_code_points(str.bytes, at, size_t(slice.count)));
    return out.finish(str.markup);
  }
  for (int64_t i = 0; i < slice.count; ++i) {
    runtime.step();
    out.append(str, at, at + char_bytes(str.bytes[at]));
    if (i + 1 == slice.count) break;
    if (slice.step > 0) {
      at = str.ascii ? at + size_t(slice.step) : skip_code_points(str.bytes, at, size_t(slice.step));
    } else {
      for (int64_t back = slice.step; back < 0; ++back) at = previous_char(str.bytes, at);
    }
  }
  return out.finish(str.markup);
}

}  // namespace

bool hashable(const Value& value) {
  const auto* list = value.as<List>();
  if (list && list->type == ObjectType::tuple)
    return std::all_of(list->items.begin(), list->items.end(), [](const Value& item) {
      return !item.as<Dict>() && !(item.as<List>() && item.as<List>()->type == ObjectType::list);
    });
  return !list && !value.as<Dict>();
}

Value missing_attribute(const Value& object, std::string_view name) {
  const std::string what = object.is_none() ? "None" : fmt::format("{} object", type_name(object));
  return undefined(fmt::format("{} has no attribute {}", quoted(what), quoted(shortened(name))));
}

std::optional<Value> find_attribute(Runtime& runtime, const Value& object, std::string_view name) {
  require_defined(runtime, object);
  if (name.starts_with("__") && name.ends_with("__") && name.size() > 4)
    return unsafe_attribute(object, name);
  if (changes_object(object, name)) return unsafe_attribute(object, name);
  if (auto field = find_field(runtime, object, name)) {
    if (name.starts_with('_')) return unsafe_attribute(object, name);
    return field;
  }
  if (const Function::Code code = find_method(object, name))
    return runtime.make<Function>(name, code, object);
  if (object.is_string() && object.str().parsed) {
    const Value parsed(object.str().parsed);
    if (const Function::Code code = find_method(parsed, name))
      return runtime.make<Function>(name, code, parsed);
  }
  return std::nullopt;
}

Value get_attribute(Runtime& runtime, const Value& object, std::string_view name) {
  if (auto attribute = find_attribute(runtime, object, name)) return *attribute;
  if (const auto* dict = object.as<Dict>()) {
    if (const Value* value = dict->find(name)) return *value;
  } else if (object.is_string() && object.str().parsed) {
    if (const Value* value = object.str().parsed->find(name)) return *value;
  }
  return missing_attribute(object, name);
}

Value get_item(Runtime& runtime, const Value& object, const Value& index) {
  require_defined(runtime, object);
  if (auto item = find_item(runtime, object, index)) return *item;
  if (index.is_string()) {
    if (auto attribute = find_attribute(runtime, object, index.str().bytes)) return *attribute;
    return missing_attribute(object, index.str().bytes);
  }
  const std::string what = object.is_none() ? "None" : fmt::format("{} object", type_name(object));
  const std::string element =
      index.is_int() ? fmt::format("{}", index.integer()) : std::string(type_name(index));
  return undefined(fmt::format("{} has no element {}", what, element));
}

Value get_slice(Runtime& runtime, const Value& object, const Value& start, const Value& stop,
                const Value& step) {
  require_defined(runtime, object);
  const auto* list = object.as<List>();
  const auto* range = object.as<Range>();
  if (!object.is_string() && !list && !range)
    runtime.fail(fmt::format("'{}' object cannot be sliced", type_name(object)));
  for (const Value* part : {&start, &stop, &step})
    if (!part->is_none() && !part->is_integral()) runtime.fail("slice indices must be integers or None");
  // A step beyond the length takes one item; bounded, so that no index can overflow.
  constexpr int64_t far = int64_t(1) << 40;
  const int64_t by = step.is_none() ? 1 : std::clamp(step.integer(), -far, far);
  if (by == 0) runtime.fail("slice step cannot be zero");
  const Slice slice = adjust(*length_of(object), start, stop, by);
  if (object.is_string()) return slice_text(runtime, object.str(), slice);
  if (range) return slice_range(runtime, *range, slice);
  Items items(runtime);
  for (int64_t i = 0; i < slice.count; ++i) items.add(list->items[size_t(slice.start + i * slice.step)]);
  auto* result = runtime.make<List>(list->type, std::move(items));
  result->trusted = list->trusted;
  return result;
}

}  // namespace minfer::chat::jinja
