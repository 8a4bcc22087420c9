#include "cli/help.h"

#include <fmt/format.h>

#include "cli/help_topics.h"

namespace minfer::cli {

const char* const help_examples = R"(Examples:
  minfer run default "What is the capital of France?"
  minfer info model.gguf
  minfer help sampling

`minfer COMMAND --help` lists the options of a command, `minfer help` the topics.)";

const std::vector<CommandGroup>& command_groups() {
  static const std::vector<CommandGroup> all = {
      {"Use a model", {"run", "chat"}},
      {"Get and keep models", {"pull", "list", "rm", "info"}},
      {"Look inside", {"tokenize", "detokenize", "render", "logits"}},
      {"Measure", {"bench"}},
      {"Read more", {"help"}},
  };
  return all;
}

std::string list_topics() {
  std::string text = "Topics, each shown by `minfer help TOPIC`:\n\n";
  for (const HelpTopic& topic : help_topics()) text += fmt::format("  {:14} {}\n", topic.name, topic.about);
  return text + "\n`minfer --help` lists the commands, `minfer COMMAND --help` the options of one.\n";
}

std::string topic_names() {
  std::string names;
  for (const HelpTopic& topic : help_topics()) names += (names.empty() ? "" : ", ") + topic.name;
  return names;
}

std::optional<std::string> topic_page(std::string_view name) {
  for (const HelpTopic& topic : help_topics())
    if (topic.name == name) return topic.about + "\n" + topic.text;
  return std::nullopt;
}

}  // namespace minfer::cli
