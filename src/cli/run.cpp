#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "chat/chat_template.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/model_store.h"
#include "cli/output.h"
#include "cli/terminal.h"
#include "cli/text_input.h"

namespace minfer::cli {
namespace {

std::string read_prompt(const RunOptions& options) {
  return options.prompt_file.empty() ? options.prompt : read_text_file(options.prompt_file);
}

/// One user turn, and a system turn before it if there is one, as the model's own template writes them.
std::vector<Token> chat_tokens(const RunOptions& options, const Model& model, std::string_view text) {
  const auto chat_template = chat::ChatTemplate::load(model.file());
  if (chat_template->is_fallback()) log(LogLevel::warning, "{}", chat_template->origin());
  return chat::encode(model.tokenizer(), chat::render_turn(*chat_template, options.system, text));
}

std::vector<Token> prompt_tokens(const RunOptions& options, const Model& model) {
  const std::string text = read_prompt(options);
  if (!options.raw) return chat_tokens(options, model, text);
  if (!options.system.empty())
    throw Error(ErrorCode::bad_request, "--system has no place in a raw prompt", "write it into the prompt");
  return model.tokenizer().encode(text, {.add_bos = true, .parse_special = true});
}

double rate(int64_t tokens, double seconds) { return seconds > 0 ? double(tokens) / seconds : 0; }

void report(const GenerateResult& result) {
  // The first generated token comes out of the prompt's pass: the decoding time holds one pass less.
  log(LogLevel::info, "prompt {} tokens, {:.1f} tokens/s; generated {} tokens, {:.1f} tokens/s",
      result.prompt_tokens, rate(result.prompt_tokens, result.prompt_seconds), result.generated_tokens,
      rate(std::max<int64_t>(result.generated_tokens - 1, 0), result.generate_seconds));
  if (result.reason == StopReason::context_full)
    log(LogLevel::warning, "stopped: the context is full; --n-ctx makes it larger");
}

}  // namespace

int run(const RunOptions& options) {
  const auto model = Model::load(find_model(options.model));
  const std::vector<Token> prompt = prompt_tokens(options, *model);
  if (prompt.empty())
    throw Error(ErrorCode::bad_request, "the prompt is empty", "give the model at least one character");
  const auto session = Session::create(model, options.session);

  GenerateParams params = options.generate;
  params.cancel = &interrupted;
  catch_first_interrupt();
  const bool on_terminal = ::isatty(STDOUT_FILENO);
  bool reader_left = false, at_line_start = true;
  const GenerateResult result = generate(*session, prompt, params, [&](std::string_view text) {
    at_line_start = text.ends_with('\n');
    reader_left = !write_out(on_terminal ? harmless(text) : std::string(text));
    return !reader_left;
  });
  if (reader_left) return exit_ok;
  if (!at_line_start && !write_out("\n")) return exit_ok;
  report(result);
  return interrupted ? exit_interrupted : exit_ok;
}

}  // namespace minfer::cli
