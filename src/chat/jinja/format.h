#pragma once
#include "chat/jinja/value.h"

namespace minfer::chat::jinja {

/// Python's `text % arguments`.
StrPtr format_percent(Runtime& runtime, const Str& text, const Value& arguments);
/// Python's `text.format(…)`.
StrPtr format_braces(Runtime& runtime, const Str& text, const Arguments& arguments);
/// Python's format(value, spec), e.g. ">10.3f".
StrPtr format_value(Runtime& runtime, const Value& value, std::string_view spec);

/// Appends `text` in a field of `width` characters. `align`: < left, > right, ^ centred, = after the sign.
void append_padded(TextBuilder& out, const Str& text, int64_t width, char align, std::string_view fill = " ");
/// A number in C's notation, e.g. ('f', 2): "1.50". `alternate`: the form of `#`.
std::string format_float(Runtime& runtime, double number, char type, int64_t precision,
                         bool alternate = false);
/// A whole number in base 2, 8, 10 or 16, lower case, with its minus sign.
std::string format_integer(int64_t number, int base);

}  // namespace minfer::chat::jinja
