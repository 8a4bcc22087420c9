#pragma once
#include <span>
#include <string_view>

#include "chat/jinja/value.h"

namespace minfer::chat::jinja {

struct Method {
  std::string_view name;
  Function::Code code;
};

std::span<const Method> string_methods();
/// Python's islower and isupper.
bool has_case(Runtime& runtime, const Str& str, bool upper);

}  // namespace minfer::chat::jinja
