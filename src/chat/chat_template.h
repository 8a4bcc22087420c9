#pragma once
#include <ctime>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gguf/gguf.h"
#include "tokenizer/tokenizer.h"

namespace minfer::chat {

/// A stretch of a rendered chat. `trusted`: the template wrote it, so control tokens in it are control
/// tokens; what users and tools wrote is not trusted and stays plain text, however it is spelled.
struct Piece {
  std::string text;
  bool trusted;
};

struct RenderOptions {
  bool add_generation_prompt = true;    ///< end with the head of the assistant's next turn
  std::optional<bool> enable_thinking;  ///< unset: the template's own default
  /// Array of OpenAI-style tool definitions; none: nullptr, or JSON's null.
  std::shared_ptr<const nlohmann::ordered_json> tools;
  std::optional<std::time_t> current_time;  ///< what strftime_now sees, as UTC; unset: the local clock
};

/// From messages to a prompt: the template of a model, parsed. Immutable; safe from any thread.
class ChatTemplate {
 public:
  /// The template in `tokenizer.chat_template`; where there is none, ChatML, if the vocabulary has its
  /// control tokens, else Error{unsupported}. Works on a file without tensors. Throws Error{bad_model} with
  /// line and column for a template that cannot be parsed.
  static std::shared_ptr<const ChatTemplate> load(const gguf::File& file);

  /// What a template may print besides the messages: the texts of the vocabulary's own tokens, if it has
  /// them.
  struct SpecialTexts {
    std::optional<std::string> bos, eos, unk, pad;
  };
  /// A template from its source. `origin` is for the user, see origin().
  static std::shared_ptr<const ChatTemplate> parse(std::string source, SpecialTexts specials = {},
                                                   std::string origin = "a given template");

  virtual ~ChatTemplate() = default;

  /// `messages`: array of OpenAI-style objects (role, content, tool_calls, …), see messages.h. The pieces'
  /// texts joined are the prompt; neighbours differ in `trusted`. Throws Error{bad_request} for messages that
  /// cannot be used, naming index and field, and where the template itself refuses (raise_exception), with
  /// its words; Error{bad_model} with line and column where the template fails or exceeds a limit.
  virtual std::vector<Piece> render(const nlohmann::ordered_json& messages,
                                    const RenderOptions& options) const = 0;

  /// For the user: "the model's own template" or "ChatML: the file has no template".
  virtual std::string_view origin() const = 0;
  /// Not the model's own: what users should be told, with origin().
  virtual bool is_fallback() const = 0;
  virtual std::string_view source() const = 0;
};

/// A chat of one user's message, after a system message unless that is empty. Throws as render does.
std::vector<Piece> render_turn(const ChatTemplate& chat_template, std::string_view system,
                               std::string_view user);

/// All texts in order.
std::string joined(std::span<const Piece> pieces);

/// Ids of a rendered chat. Control tokens come from trusted text only; plain text that crosses pieces is
/// tokenised as one. The leading token (BOS) is added where the vocabulary asks for it and the text has none;
/// `add_bos` false is for the continuation of a text.
std::vector<Token> encode(const Tokenizer& tokenizer, std::span<const Piece> pieces, bool add_bos = true);

}  // namespace minfer::chat
