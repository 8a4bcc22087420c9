// What can stand after `is`.
#include "chat/jinja/ast.h"
#include "chat/jinja/builtins.h"
#include "chat/jinja/compare.h"
#include "chat/jinja/iterate.h"
#include "chat/jinja/method_tables.h"
#include "chat/jinja/operators.h"
#include "chat/jinja/print.h"
#include "chat/jinja/runtime.h"

namespace minfer::chat::jinja {
namespace {

using IsOne = bool (*)(const Value&);

/// A test of the value alone.
template <IsOne is_one>
bool plain(Runtime& runtime, const Value& input, const Arguments& arguments) {
  Parameters(runtime, "test", arguments, {});
  return is_one(input);
}

bool defined(const Value& value) { return !value.is_undefined(); }
bool undefined_(const Value& value) { return value.is_undefined(); }
bool none(const Value& value) { return value.is_none(); }
bool boolean(const Value& value) { return value.is_bool(); }
bool true_(const Value& value) { return value.is_bool() && value.boolean(); }
bool false_(const Value& value) { return value.is_bool() && !value.boolean(); }
bool integer(const Value& value) { return value.is_int(); }
bool floating(const Value& value) { return value.is_float(); }
bool number(const Value& value) { return value.is_number(); }
bool string(const Value& value) { return value.is_string(); }
bool mapping(const Value& value) { return value.as<Dict>() || (value.is_string() && value.str().parsed); }
bool escaped_(const Value& value) { return value.is_string() && value.str().markup; }
bool sequence(const Value& value) {
  return value.is_undefined() || value.is_string() || value.as<List>() || value.as<Dict>() ||
         value.as<Range>();
}
bool callable(const Value& value) {
  return value.is_undefined() || value.as<Function>() || value.as<Macro>() || value.as<Loop>() ||
         value.as<Joiner>();
}

/// value % divisor == remainder, with Python's errors for what has no remainder.
bool remainder_is(Runtime& runtime, const Value& value, const Value& divisor, int64_t remainder) {
  return equal(runtime, binary(runtime, BinaryOperator::modulo, value, divisor), remainder);
}

bool odd(Runtime& runtime, const Value& input, const Arguments& arguments) {
  Parameters(runtime, "odd", arguments, {});
  return remainder_is(runtime, input, int64_t(2), 1);
}

bool even(Runtime& runtime, const Value& input, const Arguments& arguments) {
  Parameters(runtime, "even", arguments, {});
  return remainder_is(runtime, input, int64_t(2), 0);
}

bool divisible_by(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const Parameters parameters(runtime, "divisibleby", arguments, {"num"}, 1);
  return remainder_is(runtime, input, *parameters[0], 0);
}

template <bool upper>
bool cased(Runtime& runtime, const Value& input, const Arguments& arguments) {
  Parameters(runtime, upper ? "upper" : "lower", arguments, {});
  return has_case(runtime, *to_text(runtime, input), upper);
}

template <Comparison comparison>
bool compared(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const Parameters parameters(runtime, "test", arguments, {"other"}, 1);
  return compare(runtime, comparison, input, *parameters[0]);
}

bool same_as(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const Parameters parameters(runtime, "sameas", arguments, {"other"}, 1);
  return same(input, *parameters[0]);
}

template <class Code, Code (*find)(std::string_view)>
bool exists(Runtime& runtime, const Value& input, const Arguments& arguments) {
  Parameters(runtime, "test", arguments, {});
  return input.is_string() && find(input.str().bytes);
}

struct Test {
  std::string_view name;
  TestCode code;
};

constexpr Test tests[] = {{"defined", plain<defined>},
                          {"undefined", plain<undefined_>},
                          {"none", plain<none>},
                          {"boolean", plain<boolean>},
                          {"true", plain<true_>},
                          {"false", plain<false_>},
                          {"integer", plain<integer>},
                          {"float", plain<floating>},
                          {"number", plain<number>},
                          {"string", plain<string>},
                          {"mapping", plain<mapping>},
                          {"iterable", plain<iterable>},
                          {"sequence", plain<sequence>},
                          {"callable", plain<callable>},
                          {"escaped", plain<escaped_>},
                          {"odd", odd},
                          {"even", even},
                          {"divisibleby", divisible_by},
                          {"lower", cased<false>},
                          {"upper", cased<true>},
                          {"sameas", same_as},
                          {"filter", exists<FilterCode, find_filter>},
                          {"test", exists<TestCode, find_test>},
                          {"in", compared<Comparison::in>},
                          {"eq", compared<Comparison::equal>},
                          {"equalto", compared<Comparison::equal>},
                          {"==", compared<Comparison::equal>},
                          {"ne", compared<Comparison::not_equal>},
                          {"!=", compared<Comparison::not_equal>},
                          {"gt", compared<Comparison::greater>},
                          {"greaterthan", compared<Comparison::greater>},
                          {">", compared<Comparison::greater>},
                          {"ge", compared<Comparison::greater_equal>},
                          {">=", compared<Comparison::greater_equal>},
                          {"lt", compared<Comparison::less>},
                          {"lessthan", compared<Comparison::less>},
                          {"<", compared<Comparison::less>},
                          {"le", compared<Comparison::less_equal>},
                          {"<=", compared<Comparison::less_equal>}};

}  // namespace

TestCode find_test(std::string_view name) {
  for (const Test& test : tests)
    if (test.name == name) return test.code;
  return nullptr;
}

}  // namespace minfer::chat::jinja
