// map, select and their kin: filters that apply a filter or a test to each item.
#include "chat/jinja/filter_tables.h"
#include "chat/jinja/iterate.h"
#include "chat/jinja/print.h"
#include "chat/jinja/runtime.h"

namespace minfer::chat::jinja {
namespace {

/// `arguments` without the first `count` positional ones.
Arguments rest_of(const Arguments& arguments, size_t count) {
  Arguments rest;
  rest.positional.assign(arguments.positional.begin() + ptrdiff_t(count), arguments.positional.end());
  rest.named = arguments.named;
  return rest;
}

std::string_view name_argument(const Runtime& runtime, const Arguments& arguments, size_t i,
                               std::string_view what) {
  const Value& name = arguments.positional[i];
  if (!name.is_string())
    runtime.fail(fmt::format("the name of a {} is expected, found {}", what, type_name(name)));
  return name.str().bytes;
}

Value map_attribute(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const Parameters parameters(runtime, "map", arguments, {"attribute", "default"});
  Items mapped(runtime);
  for (const Value& item : items_of(runtime, input))
    mapped.add(attribute_of(runtime, item, *parameters[0], parameters[1]));
  return runtime.make<Iterator>(std::move(mapped));
}

Value map(Runtime& runtime, const Value& input, const Arguments& arguments) {
  if (!truthy(input)) return runtime.make<Iterator>(Items(runtime));
  bool has_attribute = false;
  for (const auto& named : arguments.named) has_attribute |= named.first == "attribute";
  if (arguments.positional.empty() && has_attribute) return map_attribute(runtime, input, arguments);
  if (arguments.positional.empty()) runtime.fail("map requires a filter argument");
  const std::string_view name = name_argument(runtime, arguments, 0, "filter");
  const Items items = items_of(runtime, input);
  Items mapped(runtime);
  const FilterCode code = find_filter(name);
  if (!code && items.size() > 0) runtime.fail(fmt::format("No filter named {}.", quoted(name)));
  const Runtime::Level level(runtime);
  const Arguments rest = rest_of(arguments, 1);
  for (const Value& item : items) mapped.add(code(runtime, item, rest));
  return runtime.make<Iterator>(std::move(mapped));
}

template <bool of_attribute, bool wanted>
Value select(Runtime& runtime, const Value& input, const Arguments& arguments) {
  if (!truthy(input)) return runtime.make<Iterator>(Items(runtime));
  if (of_attribute && arguments.positional.empty()) runtime.fail("Missing parameter for attribute name");
  constexpr size_t name_at = of_attribute ? 1 : 0;
  const bool has_test = arguments.positional.size() > name_at;
  const Items items = items_of(runtime, input);
  TestCode test = nullptr;
  Arguments rest;
  if (has_test) {
    const std::string_view name = name_argument(runtime, arguments, name_at, "test");
    test = find_test(name);
    if (!test && items.size() > 0) runtime.fail(fmt::format("No test named {}.", quoted(name)));
    rest = rest_of(arguments, name_at + 1);
  }
  const Runtime::Level level(runtime);
  Items kept(runtime);
  for (const Value& item : items) {
    const Value value = of_attribute ? attribute_of(runtime, item, arguments.positional[0]) : item;
    if ((test ? test(runtime, value, rest) : truthy(value)) == wanted) kept.add(item);
  }
  return runtime.make<Iterator>(std::move(kept));
}

constexpr Filter filters[] = {{"map", map},
                              {"select", select<false, true>},
                              {"reject", select<false, false>},
                              {"selectattr", select<true, true>},
                              {"rejectattr", select<true, false>}};

}  // namespace

std::span<const Filter> selection_filters() { return filters; }

}  // namespace minfer::chat::jinja
