#pragma once
#include <string>
#include <string_view>

namespace minfer::cli {

/// Text for a terminal: characters that would drive it (all controls but line feed and tab) are shown
/// instead, ESC as ^[. Takes whole UTF-8 characters. What a model or a file says must not move the cursor,
/// set the title or answer in the user's name.
std::string harmless(std::string_view text);

/// Whether to colour what goes to `descriptor`, a number as of isatty. `choice` is on, off or auto: a
/// terminal that can, and no NO_COLOR in the environment.
bool use_colour(const std::string& choice, int descriptor);

/// `text` in a style, if `on`: codes of ANSI X3.64 such as "1;32".
std::string styled(bool on, std::string_view codes, std::string_view text);

}  // namespace minfer::cli
