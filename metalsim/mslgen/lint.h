/// The other dialect that mslgen writes: C++ for OpenCL, whose address spaces are Metal's under other names.
/// Clang checks it with -fsyntax-only, and refuses what Apple's compiler refuses: a device pointer where a
/// thread pointer belongs.
#pragma once
#include <optional>

#include "unit.h"

namespace metalsim::mslgen {

/// What the token `i` becomes in that dialect; nothing if it stays.
std::optional<std::string> lint_word(const Unit& unit, size_t i);

}  // namespace metalsim::mslgen
