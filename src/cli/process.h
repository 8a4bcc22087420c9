#pragma once
#include <string>
#include <vector>

namespace minfer::cli {

/// Runs a program found in PATH, without a shell, and returns its exit code: 127 if it is not there, 128 + n
/// if signal n ended it. What it prints goes to our stderr, or nowhere if `quiet`; it gets no input.
int run_process(const std::vector<std::string>& arguments, bool quiet = false);

}  // namespace minfer::cli
