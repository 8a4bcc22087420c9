// Filters that give numbers, and a few for any value.
#include <cmath>

#include "chat/jinja/filter_tables.h"
#include "chat/jinja/format.h"
#include "chat/jinja/iterate.h"
#include "chat/jinja/operators.h"
#include "chat/jinja/print.h"
#include "chat/jinja/runtime.h"
#include "chat/jinja/strings.h"

namespace minfer::chat::jinja {
namespace {

int64_t truncated(const Runtime& runtime, double number) {
  if (!(std::abs(number) < 0x1p63)) runtime.fail("a whole number does not fit 64 bits");
  return int64_t(number);
}

Value absolute(Runtime& runtime, const Value& input, const Arguments& arguments) {
  Parameters(runtime, "abs", arguments, {});
  if (input.is_float()) return std::abs(input.number());
  if (!input.is_integral()) runtime.fail(fmt::format("bad operand type for abs(): '{}'", type_name(input)));
  return input.integer() < 0 ? negate(runtime, input) : Value(input.integer());
}

Value to_int(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const Parameters parameters(runtime, "int", arguments, {"default", "base"});
  require_defined(runtime, input);
  const Value otherwise = parameters[0] ? *parameters[0] : Value(int64_t(0));
  std::optional<double> number;
  if (input.is_integral()) return input.integer();
  if (input.is_float()) {
    if (std::isinf(input.number())) runtime.fail("cannot convert float infinity to integer");
    number = input.number();
  }
  if (input.is_string()) {
    runtime.step(input.str().bytes.size() / 16);
    if (const auto value = strings::to_integer(runtime, input.str().bytes, parameters.integer(1, 10)))
      return *value;
    number = strings::to_float(input.str().bytes);
  }
  return number && std::isfinite(*number) ? Value(truncated(runtime, *number)) : otherwise;
}

Value to_float(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const Parameters parameters(runtime, "float", arguments, {"default"});
  require_defined(runtime, input);
  if (input.is_number()) return input.number();
  if (input.is_string()) runtime.step(input.str().bytes.size() / 16);
  if (input.is_string())
    if (const auto value = strings::to_float(input.str().bytes)) return *value;
  return parameters[0] ? *parameters[0] : Value(0.0);
}

/// Half to even, on the exact value of the double, at a decimal place.
double rounded(Runtime& runtime, double number, int64_t places) {
  if (!std::isfinite(number) || places > 400) return number;
  if (places < 0) {
    const double unit = std::pow(10.0, double(-places));
    return std::isfinite(unit) ? std::nearbyint(number / unit) * unit : std::copysign(0.0, number);
  }
  return std::strtod(format_float(runtime, number, 'f', places).c_str(), nullptr);
}

Value round(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const Parameters parameters(runtime, "round", arguments, {"precision", "method"});
  require_defined(runtime, input);
  const int64_t places = parameters.integer(0, 0);
  const std::string method = parameters[1] ? parameters.string(1).bytes : "common";
  if (method != "common" && method != "ceil" && method != "floor")
    runtime.fail("method must be common, ceil or floor");
  if (!input.is_number())
    runtime.fail(fmt::format("type {} doesn't define __round__ method", type_name(input)));
  if (method == "common") {
    if (input.is_float()) return rounded(runtime, input.number(), places);
    return places >= 0 ? Value(input.integer())
                       : Value(truncated(runtime, rounded(runtime, double(input.integer()), places)));
  }
  const double unit = std::pow(10.0, double(places)), scaled = input.number() * unit;
  if (!std::isfinite(scaled)) runtime.fail("cannot convert float infinity to integer");
  return (method == "ceil" ? std::ceil(scaled) : std::floor(scaled)) / unit;
}

Value file_size(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const Parameters parameters(runtime, "filesizeformat", arguments, {"binary"});
  require_defined(runtime, input);
  std::optional<double> bytes;
  if (input.is_number()) bytes = input.number();
  if (input.is_string()) bytes = strings::to_float(input.str().bytes);
  if (!bytes) runtime.fail("filesizeformat: a number is expected");
  const bool binary = parameters.boolean(0, false);
  const double base = binary ? 1024 : 1000;
  if (*bytes == 1) return runtime.text("1 Byte");
  if (*bytes < base) return runtime.text(fmt::format("{} Bytes", truncated(runtime, *bytes)));
  constexpr std::string_view decimal_units[] = {"kB", "MB", "GB", "TB", "PB", "EB", "ZB", "YB"};
  constexpr std::string_view binary_units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB", "YiB"};
  double unit = base;
  size_t i = 0;
  for (; i < 8; ++i) {
    unit *= base;
    if (*bytes < unit) break;
  }
  const std::string_view name =
      binary ? binary_units[std::min<size_t>(i, 7)] : decimal_units[std::min<size_t>(i, 7)];
  return runtime.text(fmt::format("{} {}", format_float(runtime, base * *bytes / unit, 'f', 1), name));
}

Value length(Runtime& runtime, const Value& input, const Arguments& arguments) {
  Parameters(runtime, "length", arguments, {});
  const auto count = length_of(input);
  if (!count) runtime.fail(fmt::format("object of type '{}' has no len()", type_name(input)));
  return *count;
}

Value default_value(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const Parameters parameters(runtime, "default", arguments, {"default_value", "boolean"});
  const bool replaced = input.is_undefined() || (parameters.boolean(1, false) && !truthy(input));
  if (!replaced) return input;
  return parameters[0] ? *parameters[0] : runtime.text("");
}

Value attribute(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const Parameters parameters(runtime, "attr", arguments, {"name"}, 1);
  const std::string& name = parameters.string(0).bytes;
  if (input.is_undefined()) return missing_attribute(input, name);
  const auto found = find_attribute(runtime, input, name);
  return found ? *found : missing_attribute(input, name);
}

constexpr Filter filters[] = {{"abs", absolute},
                              {"int", to_int},
                              {"float", to_float},
                              {"round", round},
                              {"filesizeformat", file_size},
                              {"length", length},
                              {"count", length},
                              {"default", default_value},
                              {"d", default_value},
                              {"attr", attribute}};

}  // namespace

std::span<const Filter> number_filters() { return filters; }

}  // namespace minfer::chat::jinja
