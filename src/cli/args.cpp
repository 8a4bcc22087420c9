// The only file that includes CLI11: its headers take ten seconds to compile.
#include "cli/args.h"

#include <algorithm>
#include <CLI/CLI.hpp>
#include <memory>

#include "backends/registry.h"
#include "cli/commands.h"
#include "cli/help.h"
#include "cli/output.h"

namespace minfer::cli {
namespace {

/// CLI11's own name for a parse error means nothing to a user; its text does.
int usage_error(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) return app.exit(error);  // --help and --version
  const CLI::App* command = &app;
  if (!app.get_subcommands().empty()) command = app.get_subcommands().front();
  print_error(error.what(),
              "see `" + std::string(command == &app ? "" : "minfer ") + command->get_name() + " --help`");
  return exit_usage;
}

constexpr const char* model_help = "A GGUF file, the name or source of a cached model, or `default`";

void add_device_options(CLI::App& command, SessionOptions& session) {
  command.add_option("--threads", session.threads, "CPU threads; 0: every core this process may use")
      ->check(CLI::NonNegativeNumber);
  command.add_option("--device", session.device, device_choices())->capture_default_str();
  command.add_option("--gpu-layers", session.gpu_layers,
                     "First N blocks on the device, or `auto`: as many as fit; all by default");
  command.add_option_function<std::string>(
      "--kv", [&session](const std::string& name) { session.kv_format = kv_format_from_name(name); },
      "Format of the KV cache: f32, f16 or q8_0");
  command.add_option_function<std::string>(
      "--weights", [&session](const std::string& name) { session.weights = weight_pages_from_name(name); },
      "Pages of the weights: auto, map or huge (see `minfer help memory`)");
  command.add_option("--n-ctx", session.n_ctx, "Tokens of context; 0: the trained length, at most 4096")
      ->check(CLI::NonNegativeNumber);
}

void add_diagnostics(CLI::App& command, SessionOptions& session) {
  command.add_flag("--explain", session.explain, "Print which device runs each node, and why");
  command.add_option("--dump", session.dump_dir, "Write every stage of each graph to this folder");
  command
      .add_option_function<std::vector<std::string>>(
          "--disable-pass",
          [&session](const std::vector<std::string>& names) {
            session.disabled_passes.insert(names.begin(), names.end());
          },
          "Switch a fusion off; may be repeated")
      ->allow_extra_args(false);
}

void add_generation_options(CLI::App& command, GenerateParams& generate) {
  SamplingParams& sampling = generate.sampling;
  command.add_option("--temp", sampling.temperature, "Temperature; 0 picks the likeliest token")
      ->capture_default_str();
  command.add_option("--top-k", sampling.top_k, "Sample among the K likeliest; 0: all")
      ->capture_default_str();
  command.add_option("--top-p", sampling.top_p, "Sample within this probability mass; 1: all")
      ->capture_default_str();
  command.add_option("--seed", sampling.seed, "Same seed, same answer")->capture_default_str();
  command.add_option("--repeat-penalty", sampling.repeat_penalty, "Above 1 discourages repetition")
      ->capture_default_str();
  command
      .add_option("-n,--max-tokens", generate.max_tokens, "Tokens to generate; -1: until the context is full")
      ->check(CLI::Range(int64_t(-1), std::numeric_limits<int64_t>::max()))
      ->capture_default_str();
  command.add_option("--stop", generate.stop, "End before this text; may be repeated")
      ->allow_extra_args(false);
}

template <class Options>
using Action = int (*)(const Options&);

/// A command whose options live as long as its callback.
template <class Options>
std::pair<CLI::App*, Options*> add_command(CLI::App& app, std::function<int()>& chosen, const char* name,
                                           const char* help, Action<Options> action) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(name, help);
  command->callback([&chosen, options, action] { chosen = [options, action] { return action(*options); }; });
  return {command, options.get()};
}

void add_run(CLI::App& app, std::function<int()>& chosen) {
  auto [command, o] = add_command<RunOptions>(app, chosen, "run", "Answer a prompt", run);
  command->add_option("MODEL", o->model, model_help)->required();
  auto* text =
      command->add_option("PROMPT", o->prompt, "What to answer; after `--` it may begin with a dash");
  auto* file = command->add_option("--prompt-file", o->prompt_file, "Read the prompt from a file");
  text->excludes(file);
  command->add_option("--system", o->system, "A system message before the prompt");
  command->add_flag("--raw", o->raw, "Continue the prompt as it stands: no chat format");
  add_generation_options(*command, o->generate);
  add_device_options(*command, o->session);
  add_diagnostics(*command, o->session);
  command->parse_complete_callback([text, file] {
    if (text->empty() && file->empty()) throw CLI::RequiredError("PROMPT");
  });
}

void add_chat(CLI::App& app, std::function<int()>& chosen) {
  auto [command, o] = add_command<ChatOptions>(app, chosen, "chat", "Talk with a model", chat);
  o->generate.max_tokens = 2048;
  command->add_option("MODEL", o->model, model_help)->required();
  command->add_option("--system", o->system, "A system message before the first message");
  command->add_option("--session", o->session_file, "Go on with this file's conversation, and keep it there");
  command->add_option("--color", o->colour, "on, off or auto: on a terminal, unless NO_COLOR is set")
      ->check(CLI::IsMember({"on", "off", "auto"}))
      ->capture_default_str();
  auto* think = command->add_flag_callback(
      "--think", [options = o] { options->thinking = true; },
      "Let the model think first, if its template has a switch");
  command
      ->add_flag_callback(
          "--no-think", [options = o] { options->thinking = false; }, "Do not let it think")
      ->excludes(think);
  add_generation_options(*command, o->generate);
  add_device_options(*command, o->session);
  add_diagnostics(*command, o->session);
}

void add_bench(CLI::App& app, std::function<int()>& chosen) {
  auto [command, o] =
      add_command<BenchOptions>(app, chosen, "bench", "Measure prompt and generation speed", bench);
  command->add_option("MODEL", o->model, model_help)->required();
  command->add_option("-p", o->prompt_tokens, "Tokens of the prompt test; 0 skips it")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("-n", o->generated_tokens, "Tokens of the generation test; 0 skips it")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("-d", o->context_tokens, "Tokens in the cache before each test")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("-r", o->repeats, "Measured runs of each test, after one that is not")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_option("-o", o->format, "md, csv or json")
      ->check(CLI::IsMember({"md", "csv", "json"}))
      ->capture_default_str();
  add_device_options(*command, o->session);
  add_diagnostics(*command, o->session);
}

void add_text_commands(CLI::App& app, std::function<int()>& chosen) {
  auto [tokenize_command, t] =
      add_command<TokenizeOptions>(app, chosen, "tokenize", "Text to token ids", tokenize);
  tokenize_command->add_option("MODEL", t->model, model_help)->required();
  auto* text = tokenize_command->add_option("TEXT", t->text, "The text; may be empty");
  auto* file = tokenize_command->add_option("--text-file", t->text_file, "Read the text from a file");
  text->excludes(file);
  tokenize_command->add_flag("!--no-bos", t->add_bos,
                             "Do not add the vocabulary's leading and closing tokens");
  tokenize_command->add_flag("!--no-special", t->parse_special, "Control tokens in the text are plain text");
  tokenize_command->add_flag("--json", t->json, "Ids and pieces as one JSON object");
  tokenize_command->parse_complete_callback([text, file] {
    if (text->empty() && file->empty()) throw CLI::RequiredError("TEXT");
  });

  auto [detokenize_command, d] =
      add_command<DetokenizeOptions>(app, chosen, "detokenize", "Token ids to text", detokenize);
  detokenize_command->add_option("MODEL", d->model, model_help)->required();
  detokenize_command->add_option("IDS", d->ids, "Ids, separated by spaces or commas")->required();
  detokenize_command->add_flag("--json", d->json, "The text as a JSON object");
}

void add_render(CLI::App& app, std::function<int()>& chosen) {
  auto [command, o] = add_command<RenderCommandOptions>(app, chosen, "render",
                                                        "Messages to the text a model is given", render);
  command->add_option("MODEL", o->model, model_help)->required();
  command->add_option("--messages", o->messages_file, "A JSON file with a list of messages; - reads stdin")
      ->required();
  command->add_option("--options", o->options, "JSON object: add_generation_prompt, enable_thinking, tools");
  command->add_flag("--ids", o->ids, "Print the token ids, not the text");
}

void add_logits(CLI::App& app, std::function<int()>& chosen) {
  auto [command, o] = add_command<LogitsOptions>(
      app, chosen, "logits", "Logits of prompts given as ids, one JSON line each", logits);
  command->add_option("MODEL", o->model, model_help)->required();
  command->add_option("--ids", o->ids_file, "A file with one prompt a line: ids, or a JSON array of them")
      ->required();
  command->add_option("--greedy", o->greedy, "Also choose this many likeliest tokens after each prompt")
      ->check(CLI::NonNegativeNumber);
  command->add_flag("--json", o->json, "The format there is; accepted for symmetry");
  command->add_flag("--half-staging", o->session.half_staging,
                    "A GPU multiplies prompts with operands rounded to half: faster, less exact");
  add_device_options(*command, o->session);
  add_diagnostics(*command, o->session);
}

void add_cache_commands(CLI::App& app, std::function<int()>& chosen) {
  auto [pull_command, p] =
      add_command<PullOptions>(app, chosen, "pull", "Fetch a model into the cache", pull);
  pull_command
      ->add_option("SOURCE", p->source,
                   "hf:OWNER/REPO[:FILE], ollama:NAME[:TAG], the https:// URL of a .gguf file, or `default`; "
                   "FILE may be a quantisation such as Q4_K_M")
      ->required();
  auto [list_command, l] = add_command<ListOptions>(app, chosen, "list", "The models in the cache", list);
  list_command->add_flag("--json", l->json, "As one JSON object");
  auto [remove_command, r] =
      add_command<RemoveOptions>(app, chosen, "rm", "Remove a model from the cache", remove);
  remove_command->add_option("MODEL", r->model, "A name or source that `minfer list` shows, or `default`")
      ->required();
}

/// A topic's page, or a command's --help, whichever has this name.
std::string help_page(const CLI::App& app, const std::string& name) {
  if (name.empty()) return list_topics();
  if (const auto page = topic_page(name)) return *page;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    if (command->get_name() == name) return command->help(name, CLI::AppFormatMode::Normal);
  throw CLI::ValidationError("`" + name + "` is no topic and no command; topics are " + topic_names());
}

/// `help [TOPIC]`, and for --help the groups of commands and a few examples. The last thing to do to `app`:
/// it arranges the commands that are there.
void add_help(CLI::App& app, std::function<int()>& chosen) {
  CLI::App* help = app.add_subcommand("help", "Sampling, memory, environment variables and more");
  auto topic = std::make_shared<std::string>();
  help->add_option("TOPIC", *topic, "A topic or a command; without one, the list of topics");
  help->callback([&app, &chosen, topic] {
    chosen = [text = help_page(app, *topic)] {
      write_out(text);
      return exit_ok;
    };
  });
  app.footer(help_examples);
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; }))
    for (const CommandGroup& group : command_groups())
      if (std::count(group.commands.begin(), group.commands.end(), command->get_name()))
        command->group(group.heading);
}

}  // namespace

std::function<int()> parse_args(int argc, const char* const* argv) {
  std::function<int()> chosen;
  CLI::App app("Runs GGUF language models on your own machine.", "minfer");
  app.set_version_flag("--version", "minfer " MINFER_VERSION);
  app.require_subcommand(1);
  add_run(app, chosen);
  add_chat(app, chosen);
  auto [info_command, i] = add_command<InfoOptions>(app, chosen, "info", "What is in a model file", info);
  info_command->add_option("FILE", i->model, model_help)->required();
  info_command->add_flag("--json", i->json, "Everything as one JSON object");
  add_bench(app, chosen);
  add_text_commands(app, chosen);
  add_render(app, chosen);
  add_logits(app, chosen);
  add_cache_commands(app, chosen);
  add_help(app, chosen);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int code = usage_error(app, error);
    return [code] { return code; };
  }
  return chosen;
}

}  // namespace minfer::cli
