#include "chat/chat_template.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "chat/jinja/from_json.h"
#include "chat/jinja/interpreter.h"
#include "chat/messages.h"

namespace minfer::chat {
namespace {

/// ChatML, for files without a template.
constexpr std::string_view chatml =
    "{% for message in messages %}"
    "{{ '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>' + '\\n' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

class ParsedTemplate final : public ChatTemplate {
 public:
  ParsedTemplate(std::string source, SpecialTexts specials, std::string origin, bool is_own)
      : program_(jinja::Program::parse(source)),
        source_(std::move(source)),
        specials_(std::move(specials)),
        origin_(std::move(origin)),
        is_fallback_(!is_own),
        takes_parts_(probe_parts()) {}

  std::vector<Piece> render(const nlohmann::ordered_json& messages,
                            const RenderOptions& options) const override {
    return render_normalised(normalise_messages(messages, takes_parts_), options);
  }
  std::string_view origin() const override { return origin_; }
  std::string_view source() const override { return source_; }
  bool is_fallback() const override { return is_fallback_; }

 private:
  std::vector<Piece> render_normalised(const nlohmann::ordered_json& messages,
                                       const RenderOptions& options) const;
  bool probe_parts() const;

  std::unique_ptr<const jinja::Program> program_;
  std::string source_;
  SpecialTexts specials_;
  std::string origin_;
  bool is_fallback_;
  bool takes_parts_;  ///< the template goes over content given as a list of parts itself
};

/// Adjacent stretches of one provenance as pieces.
std::vector<Piece> pieces_of(const jinja::Str& text) {
  std::vector<Piece> pieces;
  jinja::for_each_run(text, 0, text.bytes.size(), [&](size_t begin, size_t end, bool trusted) {
    pieces.push_back({text.bytes.substr(begin, end - begin), trusted});
  });
  return pieces;
}

std::vector<Piece> ParsedTemplate::render_normalised(const nlohmann::ordered_json& messages,
                                                     const RenderOptions& options) const {
  jinja::Limits limits;
  jinja::Runtime runtime(program_->source, limits, options.current_time);
  std::vector<std::pair<std::string, jinja::Value>> variables;
  variables.emplace_back("messages", message_values(runtime, messages));
  // None and not undefined where there are no tools: templates ask both ways, as their first engine passes
  // it.
  variables.emplace_back("tools", options.tools ? jinja::from_json(runtime, *options.tools) : jinja::Value());
  variables.emplace_back("documents", jinja::Value());
  variables.emplace_back("add_generation_prompt", options.add_generation_prompt);
  if (options.enable_thinking) variables.emplace_back("enable_thinking", *options.enable_thinking);
  const auto add_special = [&](const char* name, const std::optional<std::string>& text) {
    if (text) variables.emplace_back(name, runtime.text(*text, true));
  };
  add_special("bos_token", specials_.bos);
  add_special("eos_token", specials_.eos);
  add_special("unk_token", specials_.unk);
  add_special("pad_token", specials_.pad);
  return pieces_of(*jinja::Interpreter(runtime, *program_).run(variables));
}

/// Whether a message whose content is a list of text parts prints as the text: tried out. Where it fails or
/// prints the list, or nothing, the parts are joined before rendering.
bool ParsedTemplate::probe_parts() const {
  constexpr std::string_view first = "first part of a probe", second = "second part of a probe";
  nlohmann::ordered_json content = nlohmann::ordered_json::array();
  for (const std::string_view text : {first, second}) content.push_back({{"type", "text"}, {"text", text}});
  const nlohmann::ordered_json messages = {{{"role", "user"}, {"content", content}}};
  try {
    const std::string text = joined(render_normalised(messages, {}));
    return text.find(first) != text.npos && text.find(second) != text.npos &&
           text.find("'text'") == text.npos && text.find("\"text\"") == text.npos;
  } catch (const Error&) {
    return false;
  }
}

bool has_control_token(const std::vector<std::string_view>& texts, const std::vector<int64_t>& types,
                       std::string_view wanted) {
  constexpr int64_t control = 3;
  for (size_t i = 0; i < texts.size(); ++i)
    if (texts[i] == wanted) return i < types.size() && types[i] == control;
  return false;
}

void require_chatml_tokens(const gguf::File& file) {
  const auto texts = file.get_strings("tokenizer.ggml.tokens");
  const auto types = file.get_ints("tokenizer.ggml.token_type");
  for (const std::string_view token : {"<|im_start|>", "<|im_end|>"})
    if (!texts || !types || !has_control_token(*texts, *types, token))
      throw Error(ErrorCode::unsupported,
                  fmt::format("the file has no chat template, and its vocabulary no control token {}", token),
                  "the model may not be made for chat; use --raw and write its own format into the prompt");
}

std::optional<std::string> special_text(const gguf::File& file, const std::string& name) {
  const auto id = file.get_int(fmt::format("tokenizer.ggml.{}_token_id", name));
  const auto texts = id ? file.get_strings("tokenizer.ggml.tokens") : std::nullopt;
  if (!texts || *id < 0 || size_t(*id) >= texts->size()) return std::nullopt;
  return std::string((*texts)[size_t(*id)]);
}

}  // namespace

std::shared_ptr<const ChatTemplate> ChatTemplate::parse(std::string source, SpecialTexts specials,
                                                        std::string origin) {
  return std::make_shared<ParsedTemplate>(std::move(source), std::move(specials), std::move(origin), true);
}

std::shared_ptr<const ChatTemplate> ChatTemplate::load(const gguf::File& file) {
  SpecialTexts specials{special_text(file, "bos"), special_text(file, "eos"), special_text(file, "unknown"),
                        special_text(file, "padding")};
  if (const auto source = file.get_string("tokenizer.chat_template"))
    return parse(std::string(*source), std::move(specials), "the model's own template");
  require_chatml_tokens(file);
  return std::make_shared<ParsedTemplate>(std::string(chatml), std::move(specials),
                                          "ChatML: the file has no template", false);
}

std::vector<Piece> render_turn(const ChatTemplate& chat_template, std::string_view system,
                               std::string_view user) {
  nlohmann::ordered_json messages = nlohmann::ordered_json::array();
  if (!system.empty()) messages.push_back({{"role", "system"}, {"content", system}});
  messages.push_back({{"role", "user"}, {"content", user}});
  return chat_template.render(messages, {});
}

std::string joined(std::span<const Piece> pieces) {
  std::string text;
  for (const Piece& piece : pieces) text += piece.text;
  return text;
}

std::vector<Token> encode(const Tokenizer& tokenizer, std::span<const Piece> pieces, bool add_bos) {
  std::vector<TextRange> trusted;
  size_t at = 0;
  for (const Piece& piece : pieces) {
    const size_t end = at + piece.text.size();
    if (piece.trusted && !trusted.empty() && trusted.back().end == at) {
      trusted.back().end = end;
    } else if (piece.trusted) {
      trusted.push_back({at, end});
    }
    at = end;
  }
  return tokenizer.encode(joined(pieces), {.add_bos = add_bos, .parse_special = true, .trusted = &trusted});
}

}  // namespace minfer::chat
