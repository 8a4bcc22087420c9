#pragma once
#include <string>
#include <string_view>

namespace minfer {

/// Unicode Normalization Form C of well-formed UTF-8. O(n log n) for any text, runs of combining marks
/// included. Source: Unicode Standard Annex #15.
std::string nfc(std::string_view text);

}  // namespace minfer
