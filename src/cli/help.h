#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace minfer::cli {

/// A heading of --help and the commands under it.
struct CommandGroup {
  const char* heading;
  std::vector<std::string> commands;
};
const std::vector<CommandGroup>& command_groups();

/// The end of --help.
extern const char* const help_examples;

/// What `minfer help` alone prints.
std::string list_topics();
/// The names of all topics, separated by commas.
std::string topic_names();
/// The page of a topic; nothing if there is no such topic.
std::optional<std::string> topic_page(std::string_view name);

}  // namespace minfer::cli
