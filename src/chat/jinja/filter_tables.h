#pragma once
#include <span>

#include "chat/jinja/builtins.h"

namespace minfer::chat::jinja {

struct Filter {
  std::string_view name;
  FilterCode code;
};

std::span<const Filter> text_filters();
std::span<const Filter> number_filters();
std::span<const Filter> sequence_filters();
std::span<const Filter> selection_filters();

/// What `attribute` arguments mean: a path of names and indices with dots between them.
Value attribute_of(Runtime& runtime, const Value& item, const Value& path, const Value* otherwise = nullptr);
/// The same value in lower case if it is a string.
Value without_case(Runtime& runtime, const Value& value);
/// Positions of the items of `keys` in Python's stable order.
std::vector<size_t> sorted_order(Runtime& runtime, const Items& keys, bool reverse);

}  // namespace minfer::chat::jinja
