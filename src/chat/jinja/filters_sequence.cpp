// Filters on lists and dicts.
#include <algorithm>

#include "chat/jinja/compare.h"
#include "chat/jinja/filter_tables.h"
#include "chat/jinja/iterate.h"
#include "chat/jinja/operators.h"
#include "chat/jinja/print.h"
#include "chat/jinja/runtime.h"

namespace minfer::chat::jinja {
namespace {

Value first(Runtime& runtime, const Value& input, const Arguments& arguments) {
  Parameters(runtime, "first", arguments, {});
  if (auto* iterator = input.as<Iterator>(); iterator && iterator->next < iterator->items.size())
    return iterator->items[iterator->next++];
  const Items items = items_of(runtime, input);
  return items.size() > 0 ? items[0] : undefined("No first item, sequence was empty.");
}

Value last(Runtime& runtime, const Value& input, const Arguments& arguments) {
  Parameters(runtime, "last", arguments, {});
  if (input.as<Iterator>()) runtime.fail("'generator' object is not reversible");
  const Items items = items_of(runtime, input);
  return items.size() > 0 ? items[items.size() - 1] : undefined("No last item, sequence was empty.");
}

Value list(Runtime& runtime, const Value& input, const Arguments& arguments) {
  Parameters(runtime, "list", arguments, {});
  return runtime.list(items_of(runtime, input));
}

Value reverse(Runtime& runtime, const Value& input, const Arguments& arguments) {
  Parameters(runtime, "reverse", arguments, {});
  if (input.is_string()) return get_slice(runtime, input, Value(), Value(), int64_t(-1));
  if (!iterable(input)) runtime.fail("argument must be iterable");
  const Items items = items_of(runtime, input);
  Items reversed(runtime);
  for (size_t i = items.size(); i > 0; --i) reversed.add(items[i - 1]);
  if (input.as<Iterator>()) return runtime.list(std::move(reversed));
  return runtime.make<Iterator>(std::move(reversed));
}

Value items_filter(Runtime& runtime, const Value& input, const Arguments& arguments) {
  Parameters(runtime, "items", arguments, {});
  Dict* dict = input.is_string() ? input.str().parsed : input.as<Dict>();
  if (!dict && !input.is_undefined()) runtime.fail("Can only get item pairs from a mapping.");
  if (!dict) return runtime.make<Iterator>(Items(runtime));
  return runtime.make<Iterator>(items_of(runtime, runtime.make<View>(dict, View::Part::items)));
}

Value dictsort(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const Parameters parameters(runtime, "dictsort", arguments, {"case_sensitive", "by", "reverse"});
  const std::string by = parameters[1] ? parameters.string(1).bytes : "key";
  if (by != "key" && by != "value") runtime.fail("You can only sort by either \"key\" or \"value\"");
  require_defined(runtime, input);
  Dict* dict = input.is_string() ? input.str().parsed : input.as<Dict>();
  if (!dict) runtime.fail(fmt::format("dictsort: a mapping is expected, found {}", type_name(input)));
  Items keys(runtime), sorted(runtime);
  for (const auto& [key, value] : dict->entries) {
    const Value& sorted_by = by == "key" ? key : value;
    keys.add(parameters.boolean(0, false) ? sorted_by : without_case(runtime, sorted_by));
  }
  for (const size_t i : sorted_order(runtime, keys, parameters.boolean(2, false)))
    sorted.add(runtime.tuple({dict->entries[i].first, dict->entries[i].second}));
  return runtime.list(std::move(sorted));
}

/// What `sort` compares: a list of the item, of one attribute, or of several with commas between them. (As a
/// list, so that values without an order may be there as long as they are equal.)
Value sort_key(Runtime& runtime, const Value& item, const Value* attribute, bool case_sensitive) {
  Items keys(runtime);
  const auto add = [&](const Value& value) {
    keys.add(case_sensitive ? value : without_case(runtime, value));
  };
  if (!attribute || !attribute->is_string()) {
    add(attribute ? attribute_of(runtime, item, *attribute) : item);
    return runtime.list(std::move(keys));
  }
  const std::string& names = attribute->str().bytes;
  for (size_t begin = 0; begin <= names.size();) {
    const size_t end = std::min(names.find(',', begin), names.size());
    add(attribute_of(runtime, item, runtime.text(std::string_view(names).substr(begin, end - begin))));
    begin = end + 1;
  }
  return runtime.list(std::move(keys));
}

Value sort(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const Parameters parameters(runtime, "sort", arguments, {"reverse", "case_sensitive", "attribute"});
  const Items items = items_of(runtime, input);
  Items keys(runtime), sorted(runtime);
  for (const Value& item : items)
    keys.add(sort_key(runtime, item, parameters[2], parameters.boolean(1, false)));
  for (const size_t i : sorted_order(runtime, keys, parameters.boolean(0, false))) sorted.add(items[i]);
  return runtime.list(std::move(sorted));
}

Value unique(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const Parameters parameters(runtime, "unique", arguments, {"case_sensitive", "attribute"});
  auto* seen = runtime.make<Dict>(runtime);
  Items kept(runtime);
  for (const Value& item : items_of(runtime, input)) {
    const Value plain = parameters.has(1) ? attribute_of(runtime, item, *parameters[1]) : item;
    const Value key = parameters.boolean(0, false) ? plain : without_case(runtime, plain);
    if (seen->find(key)) continue;
    seen->set(key, true);
    kept.add(item);
  }
  return runtime.make<Iterator>(std::move(kept));
}

template <bool largest>
Value extreme(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const Parameters parameters(runtime, largest ? "max" : "min", arguments, {"case_sensitive", "attribute"});
  const Items items = items_of(runtime, input);
  if (items.size() == 0) return undefined("No aggregated item, sequence was empty.");
  const auto key_of = [&](const Value& item) {
    const Value plain = parameters.has(1) ? attribute_of(runtime, item, *parameters[1]) : item;
    return parameters.boolean(0, false) ? plain : without_case(runtime, plain);
  };
  size_t best = 0;
  Value best_key = key_of(items[0]);
  for (size_t i = 1; i < items.size(); ++i) {
    const Value key = key_of(items[i]);
    const bool better =
        largest ? order(runtime, key, best_key, ">") > 0 : order(runtime, key, best_key, "<") < 0;
    if (!better) continue;
    best = i;
    best_key = key;
  }
  return items[best];
}

Value sum(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const Parameters parameters(runtime, "sum", arguments, {"attribute", "start"});
  Value total = parameters[1] ? *parameters[1] : Value(int64_t(0));
  if (total.is_string()) runtime.fail("sum() can't sum strings [use ''.join(seq) instead]");
  for (const Value& item : items_of(runtime, input))
    total = binary(runtime, BinaryOperator::add, total,
                   parameters.has(0) ? attribute_of(runtime, item, *parameters[0]) : item);
  return total;
}

Value group_by(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const Parameters parameters(runtime, "groupby", arguments, {"attribute", "default", "case_sensitive"}, 1);
  const Items items = items_of(runtime, input);
  Items plain(runtime), keys(runtime), groups(runtime);
  for (const Value& item : items) {
    plain.add(attribute_of(runtime, item, *parameters[0], parameters[1]));
    keys.add(parameters.boolean(2, false) ? plain[plain.size() - 1]
                                          : without_case(runtime, plain[plain.size() - 1]));
  }
  const std::vector<size_t> sorted = sorted_order(runtime, keys, false);
  for (size_t i = 0; i < sorted.size();) {
    const size_t head = sorted[i];
    Items members(runtime);
    for (; i < sorted.size() && equal(runtime, keys[head], keys[sorted[i]]); ++i)
      members.add(items[sorted[i]]);
    if (members.size() == 0) members.add(items[sorted[i++]]);  // a NaN equals nothing, not even itself
    const Value group = runtime.tuple({plain[head], runtime.list(std::move(members))});
    group.as<List>()->is_group = true;
    groups.add(group);
  }
  return runtime.list(std::move(groups));
}

Value batch(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const Parameters parameters(runtime, "batch", arguments, {"linecount", "fill_with"}, 1);
  const int64_t size = parameters.integer(0, 0);
  Items batches(runtime), current(runtime);
  const auto flush = [&] {
    Items full(runtime);
    for (const Value& item : current) full.add(item);
    batches.add(runtime.list(std::move(full)));
  };
  for (const Value& item : items_of(runtime, input)) {
    if (int64_t(current.size()) == size) {
      flush();
      current.clear();
    }
    current.add(item);
  }
  if (current.size() > 0) {
    if (parameters.has(1))
      while (int64_t(current.size()) < size) current.add(*parameters[1]);
    flush();
  }
  return runtime.make<Iterator>(std::move(batches));
}

Value slice(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const Parameters parameters(runtime, "slice", arguments, {"slices", "fill_with"}, 1);
  const int64_t slices = parameters.integer(0, 0);
  const Items items = items_of(runtime, input);
  if (slices == 0) runtime.fail("integer division or modulo by zero");
  Items result(runtime);
  const int64_t each = int64_t(items.size()) / slices, with_extra = int64_t(items.size()) % slices;
  size_t next = 0;
  for (int64_t i = 0; i < slices; ++i) {
    Items part(runtime);
    for (int64_t n = each + (i < with_extra); n > 0; --n) part.add(items[next++]);
    if (parameters.has(1) && i >= with_extra) part.add(*parameters[1]);
    result.add(runtime.list(std::move(part)));
  }
  return runtime.make<Iterator>(std::move(result));
}

Value xml_attributes(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const Parameters parameters(runtime, "xmlattr", arguments, {"autospace"});
  const auto* dict = input.as<Dict>();
  if (!dict) runtime.fail("xmlattr: a mapping is expected");
  TextBuilder out(runtime);
  for (const auto& [key, value] : dict->entries) {
    if (value.is_none() || value.is_undefined()) continue;
    const StrPtr name = escaped(runtime, key);
    if (!key.is_string() || key.str().bytes.find_first_of(" \t\n\r\f\v/>=") != std::string::npos)
      runtime.fail(fmt::format("Invalid character in attribute name: {}", to_repr(runtime, key)->bytes));
    if (!out.empty() || parameters.boolean(0, true)) out.append(" ", true);
    out.append(*name);
    out.append("=\"", true);
    out.append(*escaped(runtime, value));
    out.append("\"", true);
  }
  return out.finish();
}

constexpr Filter filters[] = {{"first", first},
                              {"last", last},
                              {"list", list},
                              {"reverse", reverse},
                              {"items", items_filter},
                              {"dictsort", dictsort},
                              {"sort", sort},
                              {"unique", unique},
                              {"min", extreme<false>},
                              {"max", extreme<true>},
                              {"sum", sum},
                              {"groupby", group_by},
                              {"batch", batch},
                              {"slice", slice},
                              {"xmlattr", xml_attributes}};

}  // namespace

std::span<const Filter> sequence_filters() { return filters; }

}  // namespace minfer::chat::jinja
