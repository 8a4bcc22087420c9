#pragma once
#include <optional>
#include <string>

#include "chat/jinja/value.h"

namespace minfer::chat::jinja {

/// Python's str(): how a value is printed. Strings come back as they are.
StrPtr to_text(Runtime& runtime, const Value& value);
/// The same at the end of `out`.
void print(TextBuilder& out, Runtime& runtime, const Value& value);
/// Python's repr(): strings quoted, containers item by item.
StrPtr to_repr(Runtime& runtime, const Value& value);
/// repr of a string of plain bytes, for messages.
std::string quoted(std::string_view text);
/// A number as Python prints it: the shortest digits that read back as the same double.
std::string float_text(double number);

/// How `tojson` writes, as the keyword arguments of Python's json.dumps.
struct JsonStyle {
  bool ensure_ascii = false, sort_keys = false;
  std::optional<std::string> indent;  ///< unset: one line
  StrPtr item_separator, key_separator;
};
StrPtr to_json(Runtime& runtime, const Value& value, const JsonStyle& style);

}  // namespace minfer::chat::jinja
