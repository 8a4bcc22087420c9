#pragma once
#include <string_view>

#include "chat/jinja/value.h"

namespace minfer::chat::jinja {

using FilterCode = Value (*)(Runtime&, const Value& input, const Arguments&);
using TestCode = bool (*)(Runtime&, const Value& input, const Arguments&);

/// The built-in filter, test or global of this name; null if there is none.
FilterCode find_filter(std::string_view name);
TestCode find_test(std::string_view name);
Function::Code find_global(std::string_view name);
/// Methods of strings, dicts, lists and so on; null if values of this type have none of this name.
Function::Code find_method(const Value& value, std::string_view name);

/// Reads a call's arguments as Python binds them: by position, then by name. Fails for too many, unknown,
/// doubled or missing ones.
class Parameters {
 public:
  Parameters(Runtime& runtime, std::string_view function, const Arguments& arguments,
             std::initializer_list<std::string_view> names, size_t required = 0);
  /// Null if not passed.
  const Value* operator[](size_t i) const { return values_[i]; }
  /// As a whole number; `otherwise` if not passed. Fails for other types.
  int64_t integer(size_t i, int64_t otherwise) const;
  bool boolean(size_t i, bool otherwise) const;  ///< by truth
  const Str& string(size_t i) const;             ///< must have been passed and be a string
  bool has(size_t i) const { return values_[i] && !values_[i]->is_none(); }

 private:
  Runtime& runtime_;
  std::string_view function_;
  std::vector<std::string_view> names_;
  std::vector<const Value*> values_;
};

}  // namespace minfer::chat::jinja
