#pragma once
#include <CLI/CLI.hpp>
#include <functional>

namespace minfer::cli {

/// Adds `help [TOPIC]`, and to --help the groups of commands and a few examples. The last thing to do to
/// `app`: it arranges the commands that are there.
void add_help(CLI::App& app, std::function<int()>& chosen);

}  // namespace minfer::cli
