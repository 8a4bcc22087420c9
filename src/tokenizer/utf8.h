#pragma once
#include <cstddef>
#include <string_view>

namespace minfer::utf8 {

enum class Kind {
  character,   ///< a whole, well-formed character
  incomplete,  ///< the text ends inside a character that could still become well-formed
  invalid,     ///< no continuation can make these bytes well-formed
};

/// What `bytes` (not empty) starts with, and how long it is. For `incomplete` and `invalid` the length is
/// that of the maximal subpart: what one U+FFFD stands for (The Unicode Standard, section 3.9, "U+FFFD
/// Substitution of Maximal Subparts").
struct Step {
  Kind kind;
  size_t length;
};
Step next(std::string_view bytes);

/// Length of the longest prefix made of whole characters.
size_t valid_prefix(std::string_view bytes);

}  // namespace minfer::utf8
