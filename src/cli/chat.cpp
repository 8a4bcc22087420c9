#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/log.h"
#include "chat/chat_template.h"
#include "cli/chat_commands.h"
#include "cli/chat_input.h"
#include "cli/commands.h"
#include "cli/history_file.h"
#include "cli/interrupt.h"
#include "cli/line_editor.h"
#include "cli/model_store.h"
#include "cli/output.h"
#include "cli/terminal.h"

namespace minfer::cli {
namespace {

namespace fs = std::filesystem;

/// Who is at the other end of each stream.
struct Terminal {
  bool typed = ::isatty(STDIN_FILENO) && (::isatty(STDOUT_FILENO) || ::isatty(STDERR_FILENO));
  bool out = ::isatty(STDOUT_FILENO);
  bool colour_out, colour_err;
  explicit Terminal(const std::string& colour)
      : colour_out(use_colour(colour, STDOUT_FILENO)), colour_err(use_colour(colour, STDERR_FILENO)) {}
};

std::string history_path() {
  std::error_code error;
  fs::create_directories(cache_folder(), error);
  return error ? std::string() : (cache_folder() / "chat_history").string();
}

std::unique_ptr<LineSource> make_source(const Terminal& terminal) {
  if (!terminal.typed) return make_plain_source();
  return make_line_editor({.history_file = history_path(), .colour = terminal.colour_out});
}

/// "12 (34.5 tokens/s)": `passes` of the tokens took `seconds`; without the speed if there was no pass.
std::string speed(int64_t tokens, int64_t passes, double seconds) {
  if (passes <= 0 || seconds <= 0) return fmt::format("{}", tokens);
  return fmt::format("{} ({:.1f} tokens/s)", tokens, double(passes) / seconds);
}

/// A chat from the first line to the last.
class Chat {
 public:
  Chat(const ChatOptions& options, Conversation& conversation)
      : options_(options),
        terminal_(options.colour),
        conversation_(conversation),
        source_(make_source(terminal_)) {}

  int run() {
    if (terminal_.typed) catch_every_interrupt();
    while (!left_) {
      if (terminal_.typed) forget_interrupt();
      const Entry entry = read_entry(*source_);
      if (entry.kind == Entry::Kind::end) break;
      if (entry.kind == Entry::Kind::interrupted) continue;
      if (!terminal_.typed) catch_first_interrupt();
      try {
        perform(entry);
      } catch (const Error& error) {
        print_error(harmless(error.what()), error.hint);
        failed_ = true;
      }
      if (terminal_.typed) continue;
      catch_no_interrupt();  // while it waits for a line there is no answer to end
      if (interrupted) return exit_interrupted;
    }
    // Who types has seen each error and gone on; a script learns of them at the end.
    return failed_ && !terminal_.typed ? exit_error : exit_ok;
  }

 private:
  void perform(const Entry& entry) {
    if (entry.kind == Entry::Kind::message) {
      answer([&](const Conversation::Sink& sink) { return conversation_.ask(entry.text, params(), sink); });
    } else {
      const Next next = do_command(conversation_, entry.text);
      if (next == Next::answer_again)
        answer([&](const Conversation::Sink& sink) { return conversation_.regenerate(params(), sink); });
      left_ = left_ || next == Next::leave;
    }
    if (!options_.session_file.empty()) save_history(conversation_, options_.session_file);
  }

  GenerateParams params() const {
    GenerateParams params = options_.generate;
    params.cancel = &interrupted;
    return params;
  }

  void answer(const std::function<Conversation::Turn(const Conversation::Sink&)>& take_turn) {
    bool at_line_start = true;
    const Conversation::Turn turn = take_turn([&](std::string_view text) {
      at_line_start = text.ends_with('\n');
      left_ = !write_out(terminal_.out ? harmless(text) : std::string(text));
      return !left_;
    });
    if (!at_line_start && !left_) left_ = !write_out("\n");
    if (!left_) report(turn);
  }

  /// The line after each answer. A reader of the answers alone never sees it: it goes to stderr.
  void report(const Conversation::Turn& turn) const {
    const GenerateResult& result = turn.result;
    std::string text =
        fmt::format("reused {}, computed {}, generated {}", turn.reused,
                    speed(result.prompt_tokens, result.prompt_tokens, result.prompt_seconds),
                    // The first token comes out of the prompt's pass.
                    speed(result.generated_tokens, result.generated_tokens - 1, result.generate_seconds));
    if (!turn.kept) text += "; stopped before the answer began: the message is taken back";
    if (turn.kept && result.reason == StopReason::cancelled) text += "; stopped";
    if (result.reason == StopReason::length) text += "; stopped by --max-tokens";
    if (result.reason == StopReason::context_full) text += "; stopped: the context is full, see --n-ctx";
    if (!log_enabled(LogLevel::info)) return;
    const std::string line = styled(terminal_.colour_err, "2", "minfer: " + text) + "\n";
    std::fwrite(line.data(), 1, line.size(), stderr);
  }

  const ChatOptions& options_;
  const Terminal terminal_;
  Conversation& conversation_;
  std::unique_ptr<LineSource> source_;
  bool left_ = false, failed_ = false;
};

/// What was said before, if the file of the session is there, and the system message asked for.
void begin(Conversation& conversation, const ChatOptions& options) {
  std::error_code ignored;
  if (!options.session_file.empty() && fs::exists(options.session_file, ignored)) {
    load_history(conversation, options.session_file);
    log(LogLevel::info, "{}: {} messages", options.session_file, conversation.message_count());
  }
  if (!options.system.empty()) conversation.set_system(options.system);
}

}  // namespace

int chat(const ChatOptions& options) {
  const std::string path = find_model(options.model);
  const auto model = Model::load(path);
  const auto chat_template = chat::ChatTemplate::load(model->file());
  chat::RenderOptions render;
  render.enable_thinking = options.thinking;
  if (options.thinking && chat_template->source().find("enable_thinking") == std::string_view::npos)
    throw Error(ErrorCode::unsupported, "this model's chat template has no switch for thinking",
                "leave --think and --no-think out");
  Conversation conversation(Session::create(model, options.session), chat_template, render);
  begin(conversation, options);
  Chat talk(options, conversation);
  log(LogLevel::info, "{}, {} tokens of context, {}; /help lists the commands",
      fs::path(path).stem().string(), conversation.session().n_ctx(), chat_template->origin());
  return talk.run();
}

}  // namespace minfer::cli
