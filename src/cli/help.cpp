#include "cli/help.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "cli/help_topics.h"
#include "cli/output.h"

namespace minfer::cli {
namespace {

constexpr const char* examples = R"(Examples:
  minfer run default "What is the capital of France?"
  minfer info model.gguf
  minfer help sampling

`minfer COMMAND --help` lists the options of a command, `minfer help` the topics.)";

/// The heading under which --help lists a command.
struct Group {
  const char* heading;
  std::vector<std::string> commands;
};
const std::vector<Group>& groups() {
  static const std::vector<Group> all = {
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

/// A topic's page, or a command's --help, whichever has this name.
std::string page(const CLI::App& app, const std::string& name) {
  if (name.empty()) return list_topics();
  for (const HelpTopic& topic : help_topics())
    if (topic.name == name) return topic.about + "\n" + topic.text;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    if (command->get_name() == name) return command->help(name, CLI::AppFormatMode::Normal);
  std::string names;
  for (const HelpTopic& topic : help_topics()) names += (names.empty() ? "" : ", ") + topic.name;
  throw CLI::ValidationError(fmt::format("`{}` is no topic and no command; topics are {}", name, names));
}

}  // namespace

void add_help(CLI::App& app, std::function<int()>& chosen) {
  CLI::App* help = app.add_subcommand("help", "Sampling, memory, environment variables and more");
  auto topic = std::make_shared<std::string>();
  help->add_option("TOPIC", *topic, "A topic or a command; without one, the list of topics");
  help->callback([&app, &chosen, topic] {
    chosen = [text = page(app, *topic)] {
      write_out(text);
      return exit_ok;
    };
  });
  app.footer(examples);
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; }))
    for (const Group& group : groups())
      if (std::count(group.commands.begin(), group.commands.end(), command->get_name()))
        command->group(group.heading);
}

}  // namespace minfer::cli
