#include "chat/jinja/operators.h"

#include <cmath>

#include "chat/jinja/compare.h"
#include "chat/jinja/format.h"
#include "chat/jinja/print.h"
#include "chat/jinja/runtime.h"

namespace minfer::chat::jinja {
namespace {

constexpr std::string_view symbols[] = {"+", "-", "*", "/", "//", "%", "** or pow()"};

[[noreturn]] void fail_operands(const Runtime& runtime, BinaryOperator op, const Value& left,
                                const Value& right) {
  runtime.fail(fmt::format("unsupported operand type(s) for {}: '{}' and '{}'", symbols[size_t(op)],
                           type_name(left), type_name(right)));
}

[[noreturn]] void fail_overflow(const Runtime& runtime) {
  runtime.fail("a whole number does not fit 64 bits");
}

/// Rounded towards minus infinity, the remainder with the sign of the divisor.
int64_t floor_divide(int64_t a, int64_t b) { return a / b - ((a % b != 0) && ((a < 0) != (b < 0))); }
int64_t floor_modulo(int64_t a, int64_t b) {
  const int64_t rest = a % b;
  return rest != 0 && ((rest < 0) != (b < 0)) ? rest + b : rest;
}

double float_modulo(double a, double b) {
  const double rest = std::fmod(a, b);
  if (rest == 0) return std::copysign(0.0, b);
  return (rest < 0) != (b < 0) ? rest + b : rest;
}

/// As CPython computes it: from the remainder, rounded to the nearest whole number.
double float_floor_divide(double a, double b) {
  const double rest = std::fmod(a, b);
  double quotient = (a - rest) / b;
  if (rest != 0 && ((rest < 0) != (b < 0))) quotient -= 1;
  if (quotient == 0) return std::copysign(0.0, a / b);
  const double floored = std::floor(quotient);
  return quotient - floored > 0.5 ? floored + 1 : floored;
}

std::string_view entity_for(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '\'':
      return "&#39;";
    case '"':
      return "&#34;";
    default:
      return {};
  }
}

Value integer_power(const Runtime& runtime, int64_t base, int64_t exponent) {
  int64_t result = 1;
  while (exponent > 0) {
    if ((exponent & 1) && __builtin_mul_overflow(result, base, &result)) fail_overflow(runtime);
    exponent >>= 1;
    if (exponent > 0 && __builtin_mul_overflow(base, base, &base)) {
      // Powers of 0, 1 and -1 never come here; any other base is squared and used again, so it overflows.
      fail_overflow(runtime);
    }
  }
  return result;
}

Value float_power(const Runtime& runtime, double base, double exponent) {
  if (base == 0 && exponent < 0) runtime.fail("0.0 cannot be raised to a negative power");
  if (base < 0 && std::isfinite(base) && std::isfinite(exponent) && std::trunc(exponent) != exponent)
    runtime.fail("a power that is no real number");
  const double result = std::pow(base, exponent);
  if (std::isinf(result) && std::isfinite(base) && std::isfinite(exponent))
    runtime.fail("a power is too large");
  return result;
}

Value integer_operation(const Runtime& runtime, BinaryOperator op, int64_t a, int64_t b) {
  int64_t result = 0;
  switch (op) {
    case BinaryOperator::add:
      if (__builtin_add_overflow(a, b, &result)) fail_overflow(runtime);
      return result;
    case BinaryOperator::subtract:
      if (__builtin_sub_overflow(a, b, &result)) fail_overflow(runtime);
      return result;
    case BinaryOperator::multiply:
      if (__builtin_mul_overflow(a, b, &result)) fail_overflow(runtime);
      return result;
    case BinaryOperator::divide:
      if (b == 0) runtime.fail("division by zero");
      // Exactly rounded even where the operands are no doubles.
      return double(static_cast<long double>(a) / static_cast<long double>(b));
    case BinaryOperator::floor_divide:
    case BinaryOperator::modulo:
      if (b == 0) runtime.fail("integer division or modulo by zero");
      if (b == -1) {
        if (op == BinaryOperator::modulo) return int64_t(0);
        if (__builtin_sub_overflow(int64_t(0), a, &result)) fail_overflow(runtime);
        return result;
      }
      return op == BinaryOperator::modulo ? floor_modulo(a, b) : floor_divide(a, b);
    case BinaryOperator::power:
      return b >= 0 ? integer_power(runtime, a, b) : float_power(runtime, double(a), double(b));
  }
  return result;
}

Value float_operation(const Runtime& runtime, BinaryOperator op, double a, double b) {
  switch (op) {
    case BinaryOperator::add:
      return a + b;
    case BinaryOperator::subtract:
      return a - b;
    case BinaryOperator::multiply:
      return a * b;
    case BinaryOperator::divide:
      if (b == 0) runtime.fail("float division by zero");
      return a / b;
    case BinaryOperator::floor_divide:
      if (b == 0) runtime.fail("float floor division by zero");
      return float_floor_divide(a, b);
    case BinaryOperator::modulo:
      if (b == 0) runtime.fail("float modulo by zero");
      return float_modulo(a, b);
    case BinaryOperator::power:
      return float_power(runtime, a, b);
  }
  return 0.0;
}

Value concatenated(Runtime& runtime, const Value& left, const Value& right) {
  const bool markup = left.str().markup || right.str().markup;
  TextBuilder out(runtime);
  for (const Value* part : {&left, &right}) out.append(markup ? *escaped(runtime, *part) : part->str());
  return out.finish(markup);
}

Value joined_lists(Runtime& runtime, const List& left, const List& right) {
  Items items(runtime);
  for (const Value& item : left.items) items.add(item);
  for (const Value& item : right.items) items.add(item);
  return runtime.make<List>(left.type, std::move(items));
}

/// Text or a list, `times` times over. Nothing: neither.
std::optional<Value> repeated_value(Runtime& runtime, const Value& value, const Value& times) {
  if (!times.is_integral()) return std::nullopt;
  if (value.is_string()) {
    TextBuilder out(runtime);
    out.repeat(value.str(), times.integer());
    return out.finish(value.str().markup);
  }
  if (const auto* list = value.as<List>())
    return runtime.make<List>(list->type, repeated(runtime, list->items, times.integer()));
  return std::nullopt;
}

}  // namespace

void require_defined(const Runtime& runtime, const Value& value) {
  if (value.is_undefined()) runtime.fail(*value.undefined().message);
}

Items repeated(Runtime& runtime, const Items& items, int64_t times) {
  Items result(runtime);
  for (int64_t i = 0; i < times && items.size() > 0; ++i)
    for (const Value& item : items) result.add(item);
  return result;
}

StrPtr escaped(Runtime& runtime, const Value& value) {
  const StrPtr text = to_text(runtime, value);
  if (text->markup) return text;
  TextBuilder out(runtime);
  for_each_run(*text, 0, text->bytes.size(), [&](size_t begin, size_t end, bool trusted) {
    size_t copied = begin;
    for (size_t at = begin; at < end; ++at) {
      const std::string_view entity = entity_for(text->bytes[at]);
      if (entity.empty()) continue;
      runtime.step();
      out.append(*text, copied, at);
      out.append(entity, trusted);
      copied = at + 1;
    }
    out.append(*text, copied, end);
  });
  return out.finish(true);
}

Value binary(Runtime& runtime, BinaryOperator op, const Value& left, const Value& right) {
  if (op == BinaryOperator::modulo && left.is_string()) return format_percent(runtime, left.str(), right);
  require_defined(runtime, left);
  require_defined(runtime, right);
  if (left.is_number() && right.is_number()) {
    if (!left.is_float() && !right.is_float())
      return integer_operation(runtime, op, left.integer(), right.integer());
    return float_operation(runtime, op, left.number(), right.number());
  }
  if (op == BinaryOperator::add) {
    if (left.is_string() && right.is_string()) return concatenated(runtime, left, right);
    const auto *first = left.as<List>(), *second = right.as<List>();
    if (first && second && first->type == second->type) return joined_lists(runtime, *first, *second);
    if (left.is_string())
      runtime.fail(fmt::format("can only concatenate str (not \"{}\") to str", type_name(right)));
  }
  if (op == BinaryOperator::multiply) {
    if (auto result = repeated_value(runtime, left, right)) return *result;
    if (auto result = repeated_value(runtime, right, left)) return *result;
  }
  fail_operands(runtime, op, left, right);
}

Value negate(Runtime& runtime, const Value& operand) {
  require_defined(runtime, operand);
  if (operand.is_float()) return -operand.number();
  if (!operand.is_integral())
    runtime.fail(fmt::format("bad operand type for unary -: '{}'", type_name(operand)));
  int64_t result = 0;
  if (__builtin_sub_overflow(int64_t(0), operand.integer(), &result)) fail_overflow(runtime);
  return result;
}

Value plus(Runtime& runtime, const Value& operand) {
  require_defined(runtime, operand);
  if (operand.is_float()) return operand;
  if (!operand.is_integral())
    runtime.fail(fmt::format("bad operand type for unary +: '{}'", type_name(operand)));
  return operand.integer();
}

bool compare(Runtime& runtime, Comparison comparison, const Value& left, const Value& right) {
  switch (comparison) {
    case Comparison::equal:
      return equal(runtime, left, right);
    case Comparison::not_equal:
      return !equal(runtime, left, right);
    case Comparison::less:
      return order(runtime, left, right, "<") < 0;
    case Comparison::less_equal:
      return order(runtime, left, right, "<=") <= 0;
    case Comparison::greater:
      return order(runtime, left, right, ">") > 0;
    case Comparison::greater_equal:
      return order(runtime, left, right, ">=") >= 0;
    case Comparison::in:
      return contains(runtime, right, left);
    case Comparison::not_in:
      return !contains(runtime, right, left);
  }
  return false;
}

}  // namespace minfer::chat::jinja
