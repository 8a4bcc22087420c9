// Functions that every template can call.
#include <ctime>

#include "base/error.h"
#include "chat/jinja/builtins.h"
#include "chat/jinja/iterate.h"
#include "chat/jinja/method_tables.h"
#include "chat/jinja/print.h"
#include "chat/jinja/runtime.h"

namespace minfer::chat::jinja {
namespace {

/// What the sandbox of the reference allows a range to hold.
constexpr int64_t max_range = 100'000;

Value range(Runtime& runtime, const Value&, const Arguments& arguments) {
  const Parameters parameters(runtime, "range", arguments, {"start", "stop", "step"}, 1);
  for (size_t i = 0; i < 3; ++i) parameters.integer(i, 0);
  const bool one = !parameters[1];
  const int64_t step = parameters.integer(2, 1);
  if (step == 0) runtime.fail("range() arg 3 must not be zero");
  const Range result(one ? 0 : parameters.integer(0, 0), parameters.integer(one ? 0 : 1, 0), step);
  const int64_t length = result.length();
  if (length < 0 || length > max_range)
    runtime.fail(
        fmt::format("Range too big. The sandbox blocks ranges larger than MAX_RANGE ({}).", max_range));
  return runtime.make<Range>(result.start, result.stop, result.step);
}

Dict* make_dict(Runtime& runtime, const Arguments& arguments) {
  if (arguments.positional.size() > 1)
    runtime.fail(fmt::format("dict expected at most 1 argument, got {}", arguments.positional.size()));
  auto* dict = runtime.make<Dict>(runtime);
  if (!arguments.positional.empty()) {
    const Value& from = arguments.positional[0];
    if (const auto* other = from.as<Dict>()) {
      for (const auto& [key, value] : other->entries) dict->set(key, value);
    } else {
      for (const Value& pair : items_of(runtime, from)) {
        const Items items = items_of(runtime, pair);
        if (items.size() != 2) runtime.fail("dictionary update sequence element has not 2 items");
        dict->set(items[0], items[1]);
      }
    }
  }
  for (const auto& [name, value] : arguments.named) dict->set(runtime.text(name), value);
  return dict;
}

Value dict(Runtime& runtime, const Value&, const Arguments& arguments) {
  return make_dict(runtime, arguments);
}

Value name_space(Runtime& runtime, const Value&, const Arguments& arguments) {
  return runtime.make<Namespace>(make_dict(runtime, arguments));
}

Value cycler(Runtime& runtime, const Value&, const Arguments& arguments) {
  if (arguments.positional.empty() || !arguments.named.empty())
    runtime.fail("at least one item has to be provided");
  Items items(runtime);
  for (const Value& value : arguments.positional) items.add(value);
  return runtime.make<Cycler>(std::move(items));
}

Value joiner(Runtime& runtime, const Value&, const Arguments& arguments) {
  const Parameters parameters(runtime, "joiner", arguments, {"sep"});
  return runtime.make<Joiner>(parameters[0] ? to_text(runtime, *parameters[0])
                                            : std::make_shared<const Str>(", "));
}

Value raise_exception(Runtime& runtime, const Value&, const Arguments& arguments) {
  const Parameters parameters(runtime, "raise_exception", arguments, {"message"}, 1);
  throw Error(ErrorCode::bad_request,
              fmt::format("the model's chat template refuses these messages: {}",
                          to_text(runtime, *parameters[0])->bytes),
              "change the messages as it says; each model has rules of its own for roles and their order");
}

/// One directive of strftime, e.g. "%-d".
std::string time_part(const std::string& directive, const std::tm& time) {
  if (directive == "%f") return "000000";
  char buffer[256];
  return std::string(buffer, std::strftime(buffer, sizeof buffer, directive.c_str(), &time));
}

Value strftime_now(Runtime& runtime, const Value&, const Arguments& arguments) {
  const Parameters parameters(runtime, "strftime_now", arguments, {"format"}, 1);
  const std::string& format = parameters.string(0).bytes;
  std::tm time{};
  const std::time_t now = runtime.now().value_or(std::time(nullptr));
  if (runtime.now()) {
    gmtime_r(&now, &time);
  } else {
    localtime_r(&now, &time);
  }
  TextBuilder out(runtime);
  for (size_t at = 0; at < format.size();) {
    if (format[at] != '%') {
      const size_t end = std::min(format.find('%', at), format.size());
      out.append(std::string_view(format).substr(at, end - at), true);
      at = end;
      continue;
    }
    runtime.step();
    size_t end = at + 1;
    while (end < format.size() && std::string_view("-_0^#EO").find(format[end]) != std::string_view::npos)
      ++end;
    if (end < format.size()) ++end;
    out.append(time_part(format.substr(at, end - at), time), true);
    at = end;
  }
  return out.finish();
}

constexpr Method globals[] = {{"range", range},
                              {"dict", dict},
                              {"namespace", name_space},
                              {"cycler", cycler},
                              {"joiner", joiner},
                              {"raise_exception", raise_exception},
                              {"strftime_now", strftime_now}};

}  // namespace

Function::Code find_global(std::string_view name) {
  for (const Method& global : globals)
    if (global.name == name) return global.code;
  return nullptr;
}

}  // namespace minfer::chat::jinja
