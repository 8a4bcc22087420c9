// The table of filters, and what several of them use.
#include <algorithm>

#include "chat/jinja/compare.h"
#include "chat/jinja/filter_tables.h"
#include "chat/jinja/operators.h"
#include "chat/jinja/runtime.h"
#include "chat/jinja/strings.h"

namespace minfer::chat::jinja {

FilterCode find_filter(std::string_view name) {
  for (const auto filters : {text_filters(), number_filters(), sequence_filters(), selection_filters()})
    for (const Filter& filter : filters)
      if (filter.name == name) return filter.code;
  return nullptr;
}

Value attribute_of(Runtime& runtime, const Value& item, const Value& path, const Value* otherwise) {
  const auto step = [&](const Value& value, const Value& key) {
    const Value next = get_item(runtime, value, key);
    return next.is_undefined() && otherwise && !otherwise->is_none() ? *otherwise : next;
  };
  if (path.is_none()) return item;
  if (!path.is_string()) return step(item, path);
  Value value = item;
  const std::string& names = path.str().bytes;
  for (size_t begin = 0; begin <= names.size();) {
    const size_t end = std::min(names.find('.', begin), names.size());
    const std::string_view name = std::string_view(names).substr(begin, end - begin);
    const bool is_index = !name.empty() && name.find_first_not_of("0123456789") == name.npos;
    const auto index = is_index ? strings::to_integer(runtime, name, 10) : std::nullopt;
    value = step(value, index ? Value(*index) : runtime.text(name));
    begin = end + 1;
  }
  return value;
}

Value without_case(Runtime& runtime, const Value& value) {
  return value.is_string() ? Value(strings::change_case(runtime, value.str(), strings::Case::lower)) : value;
}

std::vector<size_t> sorted_order(Runtime& runtime, const Items& keys, bool reverse) {
  std::vector<size_t> positions(keys.size());
  for (size_t i = 0; i < positions.size(); ++i) positions[i] = i;
  const auto before = [&](size_t a, size_t b) {
    return reverse ? order(runtime, keys[b], keys[a], "<") < 0 : order(runtime, keys[a], keys[b], "<") < 0;
  };
  // A comparison may break the rules of an order (NaN): this sort then gives some order, and never runs away.
  std::stable_sort(positions.begin(), positions.end(), before);
  return positions;
}

}  // namespace minfer::chat::jinja
