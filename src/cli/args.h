#pragma once
#include <functional>

namespace minfer::cli {

/// What the command line asks for, ready to be done. Help and usage errors print and give their exit code, so
/// the caller needs no case for them.
std::function<int()> parse_args(int argc, const char* const* argv);

}  // namespace minfer::cli
