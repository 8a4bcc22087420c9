// Arguments of built-ins, and methods of all values but strings.
#include "chat/jinja/builtins.h"

#include <algorithm>

#include "chat/jinja/compare.h"
#include "chat/jinja/iterate.h"
#include "chat/jinja/method_tables.h"
#include "chat/jinja/operators.h"
#include "chat/jinja/print.h"
#include "chat/jinja/runtime.h"

namespace minfer::chat::jinja {

Parameters::Parameters(Runtime& runtime, std::string_view function, const Arguments& arguments,
                       std::initializer_list<std::string_view> names, size_t required)
    : runtime_(runtime), function_(function), names_(names), values_(names.size(), nullptr) {
  if (arguments.positional.size() > names_.size())
    runtime.fail(fmt::format("{}() takes at most {} arguments ({} given)", function, names_.size(),
                             arguments.positional.size()));
  for (size_t i = 0; i < arguments.positional.size(); ++i) values_[i] = &arguments.positional[i];
  for (const auto& [name, value] : arguments.named) {
    const size_t i = size_t(std::find(names_.begin(), names_.end(), name) - names_.begin());
    if (i == names_.size())
      runtime.fail(fmt::format("{}() got an unexpected keyword argument {}", function, quoted(name)));
    if (values_[i])
      runtime.fail(fmt::format("{}() got multiple values for argument {}", function, quoted(name)));
    values_[i] = &value;
  }
  for (size_t i = 0; i < required; ++i)
    if (!values_[i])
      runtime.fail(fmt::format("{}() is missing the argument {}", function, quoted(names_[i])));
}

int64_t Parameters::integer(size_t i, int64_t otherwise) const {
  if (!values_[i]) return otherwise;
  if (!values_[i]->is_integral())
    runtime_.fail(
        fmt::format("{}(): {} must be an integer, not {}", function_, names_[i], type_name(*values_[i])));
  return values_[i]->integer();
}

bool Parameters::boolean(size_t i, bool otherwise) const {
  return values_[i] ? truthy(*values_[i]) : otherwise;
}

const Str& Parameters::string(size_t i) const {
  if (!values_[i]->is_string())
    runtime_.fail(
        fmt::format("{}(): {} must be a string, not {}", function_, names_[i], type_name(*values_[i])));
  return values_[i]->str();
}

namespace {

template <View::Part part>
Value view_of(Runtime& runtime, const Value& self, const Arguments& arguments) {
  Parameters(runtime, "dict method", arguments, {});
  return runtime.make<View>(self.as<Dict>(), part);
}

Value dict_get(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const Parameters parameters(runtime, "get", arguments, {"key", "default"}, 1);
  const Value* value = self.as<Dict>()->find(*parameters[0]);
  if (value) return *value;
  return parameters[1] ? *parameters[1] : Value();
}

Value dict_copy(Runtime& runtime, const Value& self, const Arguments& arguments) {
  Parameters(runtime, "copy", arguments, {});
  auto* copy = runtime.make<Dict>(runtime);
  for (const auto& [key, value] : self.as<Dict>()->entries) copy->set(key, value);
  copy->trusted = self.as<Dict>()->trusted;
  return copy;
}

Value list_copy(Runtime& runtime, const Value& self, const Arguments& arguments) {
  Parameters(runtime, "copy", arguments, {});
  return runtime.list(items_of(runtime, self));
}

Value sequence_count(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const Parameters parameters(runtime, "count", arguments, {"value"}, 1);
  int64_t found = 0;
  for (const Value& item : items_of(runtime, self))
    found += same(item, *parameters[0]) || equal(runtime, item, *parameters[0]);
  return found;
}

Value sequence_index(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const Parameters parameters(runtime, "index", arguments, {"value", "start", "stop"}, 1);
  const Items items = items_of(runtime, self);
  const int64_t length = int64_t(items.size());
  const auto adjusted = [&](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + length : i, 0, length); };
  const int64_t stop = adjusted(parameters.integer(2, length));
  for (int64_t i = adjusted(parameters.integer(1, 0)); i < stop; ++i)
    if (equal(runtime, items[size_t(i)], *parameters[0])) return i;
  runtime.fail(fmt::format("{} is not in {}", to_repr(runtime, *parameters[0])->bytes, type_name(self)));
}

Value loop_cycle(Runtime& runtime, const Value& self, const Arguments& arguments) {
  if (arguments.positional.empty() || !arguments.named.empty()) runtime.fail("no items for cycling given");
  return arguments.positional[self.as<Loop>()->index0 % arguments.positional.size()];
}

Value loop_changed(Runtime& runtime, const Value& self, const Arguments& arguments) {
  auto& loop = *self.as<Loop>();
  const auto& now = arguments.positional;
  bool changed = !loop.changed_called || now.size() != loop.last_changed.size();
  for (size_t i = 0; !changed && i < now.size(); ++i) changed = !equal(runtime, now[i], loop.last_changed[i]);
  loop.changed_called = true;
  loop.last_changed = now;
  return changed;
}

Value cycler_next(Runtime& runtime, const Value& self, const Arguments& arguments) {
  Parameters(runtime, "next", arguments, {});
  auto& cycler = *self.as<Cycler>();
  const size_t position = cycler.position;
  cycler.position = (position + 1) % cycler.items.size();
  return cycler.items[position];
}

Value cycler_reset(Runtime& runtime, const Value& self, const Arguments& arguments) {
  Parameters(runtime, "reset", arguments, {});
  self.as<Cycler>()->position = 0;
  return Value();
}

constexpr Method dict_methods[] = {{"get", dict_get},
                                   {"items", view_of<View::Part::items>},
                                   {"keys", view_of<View::Part::keys>},
                                   {"values", view_of<View::Part::values>},
                                   {"copy", dict_copy}};
constexpr Method list_methods[] = {{"copy", list_copy}, {"count", sequence_count}, {"index", sequence_index}};
constexpr Method tuple_methods[] = {{"count", sequence_count}, {"index", sequence_index}};
constexpr Method loop_methods[] = {{"cycle", loop_cycle}, {"changed", loop_changed}};
constexpr Method cycler_methods[] = {{"next", cycler_next}, {"reset", cycler_reset}};

std::span<const Method> methods_of(const Value& value) {
  if (value.is_string()) return string_methods();
  if (!value.is_object()) return {};
  switch (value.object()->type) {
    case ObjectType::dict:
      return dict_methods;
    case ObjectType::list:
      return list_methods;
    case ObjectType::tuple:
    case ObjectType::range:
      return tuple_methods;
    case ObjectType::loop:
      return loop_methods;
    case ObjectType::cycler:
      return cycler_methods;
    default:
      return {};
  }
}

}  // namespace

Function::Code find_method(const Value& value, std::string_view name) {
  for (const Method& method : methods_of(value))
    if (method.name == name) return method.code;
  return nullptr;
}

}  // namespace minfer::chat::jinja
