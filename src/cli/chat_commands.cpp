#include "cli/chat_commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/error.h"
#include "base/log.h"
#include "cli/history_file.h"
#include "cli/terminal.h"

namespace minfer::cli {
namespace {

void say(const std::string& text) {
  const std::string line = text + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
}

/// A path as typed; a shell that would have replaced ~ was not asked.
std::string path_of(std::string_view argument, std::string_view command) {
  if (argument.empty())
    throw Error(ErrorCode::bad_request, fmt::format("/{} needs a file", command),
                fmt::format("/{} FILE", command));
  const char* home = std::getenv("HOME");
  if (argument.starts_with("~/") && home) return home + std::string(argument.substr(1));
  return std::string(argument);
}

Next regenerate(Conversation&, std::string_view) { return Next::answer_again; }
Next leave(Conversation&, std::string_view) { return Next::leave; }

Next clear(Conversation& conversation, std::string_view) {
  conversation.clear();
  say("The conversation begins anew.");
  return Next::go_on;
}

Next system(Conversation& conversation, std::string_view argument) {
  if (argument.empty()) {
    const std::string text = conversation.system();
    say(text.empty() ? "There is no system message." : harmless(text));
    return Next::go_on;
  }
  conversation.set_system(argument == "\"\"" ? "" : argument);
  say(argument == "\"\"" ? "The system message is gone." : "The system message is set.");
  return Next::go_on;
}

Next save(Conversation& conversation, std::string_view argument) {
  const std::string path = path_of(argument, "save");
  save_history(conversation, path);
  say(fmt::format("{} messages saved in {}", conversation.message_count(), path));
  return Next::go_on;
}

Next load(Conversation& conversation, std::string_view argument) {
  const std::string path = path_of(argument, "load");
  load_history(conversation, path);
  say(fmt::format("{} messages loaded from {}", conversation.message_count(), path));
  return Next::go_on;
}

Next help(Conversation&, std::string_view);

struct Command {
  std::string_view name, argument, help;
  Next (*run)(Conversation&, std::string_view argument);
};

constexpr Command commands[] = {
    {"regen", "", "another answer to the last message (with --temp 0 the same)", regenerate},
    {"clear", "", "forget the conversation, but not the system message", clear},
    {"system", "TEXT", "set the system message; \"\" takes it away, no text shows it", system},
    {"save", "FILE", "write the conversation as a JSON array of messages", save},
    {"load", "FILE", "go on with a saved conversation", load},
    {"help", "", "this list", help},
    {"exit", "", "leave; so do /quit and Ctrl-D", leave},
    {"quit", "", "", leave},
};

Next help(Conversation&, std::string_view) {
  for (const Command& command : commands)
    if (!command.help.empty())
      say(fmt::format("  {:<14} {}", fmt::format("/{} {}", command.name, command.argument), command.help));
  say("A line ending in \\ goes on in the next; \"\"\" begins and ends a message of several lines, which "
      "may\n"
      "begin with a slash. Ctrl-C stops an answer and keeps what there is of it.");
  return Next::go_on;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const size_t first = text.find_first_not_of(blanks);
  return first == text.npos ? text.substr(0, 0)
                            : text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

}  // namespace

Next do_command(Conversation& conversation, std::string_view line) {
  const std::string_view name = line.substr(0, line.find_first_of(" \t\n"));
  const auto known = std::find_if(std::begin(commands), std::end(commands),
                                  [&](const Command& c) { return c.name == name; });
  if (known == std::end(commands))
    throw Error(ErrorCode::bad_request, fmt::format("there is no command /{}", harmless(name)),
                "/help lists them; a message that begins with a slash goes between \"\"\"");
  const std::string_view argument = trimmed(line.substr(name.size()));
  if (known->argument.empty() && !argument.empty())
    throw Error(ErrorCode::bad_request, fmt::format("/{} stands alone", name),
                "a message that begins with a slash goes between \"\"\"");
  return known->run(conversation, argument);
}

}  // namespace minfer::cli
