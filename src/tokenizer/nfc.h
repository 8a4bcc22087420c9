#pragma once
#include <string>
#include <string_view>

namespace minfer {

/// Unicode Normalization Form C of well-formed UTF-8, as the tokenizers that models are published with
/// compute it: their tables are those of Unicode 9, so combining marks assigned since then keep their place.
/// O(n log n) for any text, runs of combining marks included.
/// Source: Unicode Standard Annex #15.
std::string nfc(std::string_view text);

}  // namespace minfer
