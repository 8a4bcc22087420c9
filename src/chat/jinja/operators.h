#pragma once
#include <optional>

#include "chat/jinja/ast.h"
#include "chat/jinja/value.h"

namespace minfer::chat::jinja {

/// Arithmetic as Python's: text and lists can be added and repeated, `%` after text formats. Whole numbers
/// have 64 bits; a result beyond them fails.
Value binary(Runtime& runtime, BinaryOperator op, const Value& left, const Value& right);
Value negate(Runtime& runtime, const Value& operand);
Value plus(Runtime& runtime, const Value& operand);
bool compare(Runtime& runtime, Comparison comparison, const Value& left, const Value& right);

/// `object[index]` and `object.name` as Jinja2's sandbox has them: each falls back to the other, what is not
/// there is undefined, and methods that would change a list or dict are refused.
Value get_item(Runtime& runtime, const Value& object, const Value& index);
Value get_attribute(Runtime& runtime, const Value& object, std::string_view name);
/// Without the fallback to items.
std::optional<Value> find_attribute(Runtime& runtime, const Value& object, std::string_view name);
/// `object[start:stop:step]`, none where left out.
Value get_slice(Runtime& runtime, const Value& object, const Value& start, const Value& stop,
                const Value& step);

/// `times` of the items one after the other.
Items repeated(Runtime& runtime, const Items& items, int64_t times);
/// HTML's five special characters as entities, if `str` is not yet markup.
StrPtr escaped(Runtime& runtime, const Value& value);
/// `name` of nothing known, for messages: "'dict object' has no attribute 'x'".
Value missing_attribute(const Value& object, std::string_view name);
bool hashable(const Value& value);
/// Fails with the value's own message if it is undefined.
void require_defined(const Runtime& runtime, const Value& value);

}  // namespace minfer::chat::jinja
