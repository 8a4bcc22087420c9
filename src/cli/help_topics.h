#pragma once
#include <string>
#include <vector>

namespace minfer::cli {

/// One page of `minfer help`: all of its text is made here and nowhere else. tests/cli/help_test.py holds it
/// to the commands, options and environment variables that there are.
struct HelpTopic {
  std::string name, about;
  std::string text;
};
const std::vector<HelpTopic>& help_topics();

}  // namespace minfer::cli
