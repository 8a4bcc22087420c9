#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"
#include "base/log.h"
#include "chat/chat_template.h"
#include "cli/commands.h"
#include "cli/model_store.h"
#include "cli/output.h"
#include "cli/text_input.h"

namespace minfer::cli {
namespace {

bool boolean_option(const std::string& name, const nlohmann::ordered_json& value) {
  if (!value.is_boolean())
    throw Error(ErrorCode::bad_request,
                fmt::format("--options: {}: true or false is expected, found {}", name, value.type_name()));
  return value.get<bool>();
}

chat::RenderOptions parse_options(const std::string& text) {
  chat::RenderOptions options;
  if (text.empty()) return options;
  const auto json = parse_json(text, "--options");
  if (!json.is_object())
    throw Error(ErrorCode::bad_request,
                fmt::format("--options: an object is expected, found {}", json.type_name()),
                R"(e.g. {"add_generation_prompt": false})");
  for (const auto& [name, value] : json.items()) {
    if (name == "add_generation_prompt") {
      options.add_generation_prompt = boolean_option(name, value);
    } else if (name == "enable_thinking") {
      if (!value.is_null()) options.enable_thinking = boolean_option(name, value);
    } else if (name == "tools") {
      if (!value.is_array() && !value.is_null())
        throw Error(ErrorCode::bad_request,
                    fmt::format("--options: tools: a list is expected, found {}", value.type_name()));
      options.tools = std::make_shared<nlohmann::ordered_json>(value);
    } else {
      throw Error(ErrorCode::bad_request, fmt::format("--options: there is no option \"{}\"", name),
                  "known are add_generation_prompt, enable_thinking and tools");
    }
  }
  return options;
}

}  // namespace

int render(const RenderCommandOptions& options) {
  const std::string path = find_model(options.model);
  const auto file = gguf::File::open(path);
  const auto messages = parse_json(read_text_file(options.messages_file), "--messages");
  const auto render_options = parse_options(options.options);
  const auto chat_template = chat::ChatTemplate::load(*file);
  if (chat_template->is_fallback()) log(LogLevel::warning, "{}", chat_template->origin());
  const auto pieces = chat_template->render(messages, render_options);
  if (options.ids) {
    const auto tokenizer = Tokenizer::load(file);
    write_out(fmt::format("{}\n", fmt::join(chat::encode(*tokenizer, pieces), " ")));
  } else {
    write_out(chat::joined(pieces));
  }
  return exit_ok;
}

}  // namespace minfer::cli
