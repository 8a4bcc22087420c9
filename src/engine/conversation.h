#pragma once
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "chat/chat_template.h"
#include "engine/generate.h"
#include "engine/session.h"
#include "engine/token_ledger.h"

namespace minfer {

/// A chat of several turns over one session.
///
/// The history is a list of messages, and the only state that counts: before each answer it is rendered by
/// the template, and what the KV cache already holds of the result is used again. Only what is new is
/// computed.
///
/// Invariant, after every answered turn: the tokens in the session are the beginning of the tokens of the
/// rendered history, where each answer keeps the ids that the model produced (see TokenLedger). What is
/// missing at the end is at most the last generated token, the part of a character or token at which an
/// answer was cut, what came after a control token inside an answer (it stands for no text, so the history
/// cannot have it), and what the template puts after an answer. All of it is computed with the next turn.
class Conversation {
 public:
  Conversation(std::unique_ptr<Session> session, std::shared_ptr<const chat::ChatTemplate> chat_template,
               chat::RenderOptions render = {});
  ~Conversation();

  struct Turn {
    GenerateResult result;  ///< its prompt_tokens are those computed
    int64_t reused = 0;     ///< prompt tokens that were in the cache
    int64_t dropped = 0;    ///< messages taken out of the history to make room
    bool kept = true;       ///< false: cancelled before there was any text; the history is as before
  };
  using Sink = std::function<bool(std::string_view)>;

  /// Appends a user's message and the answer to it. `text` receives the answer as generate() gives it. The
  /// n-th answer is sampled with seed + n, counted from 0, so that none repeats another's choices.
  ///
  /// Where the context gets too small, the oldest exchanges leave the history until a quarter of it is free;
  /// the system message stays. Throws Error{context_length_exceeded} if the message does not fit even alone,
  /// Error{bad_request} if it is no UTF-8, and what the template and Session::decode throw; the history is
  /// then as before the call.
  Turn ask(std::string_view message, const GenerateParams& params, const Sink& text);
  /// Another answer to the last user's message, instead of the one there is. Throws Error{bad_request} if
  /// there is no message, and like ask.
  Turn regenerate(const GenerateParams& params, const Sink& text);

  /// Forgets all messages but the system's.
  void clear();
  /// The text of the system message, which precedes all others; empty: none. Throws Error{bad_request} if it
  /// is no UTF-8, and what the template throws; all is then as before.
  void set_system(std::string_view text);
  std::string system() const;

  const nlohmann::ordered_json& messages() const { return *messages_; }
  size_t message_count() const;
  /// Replaces the history. Throws Error{bad_request} naming what cannot be used, and what the template
  /// throws; all is then as before.
  void set_messages(nlohmann::ordered_json messages);

  /// What the history is as tokens: the end of the last answer is there, no next one begun.
  std::vector<Token> history_tokens() const;
  const Session& session() const { return *session_; }

 private:
  TokenLedger::Plan plan(const nlohmann::ordered_json& messages, bool add_generation_prompt) const;
  TokenLedger::Plan make_room(nlohmann::ordered_json& messages, const GenerateParams& params) const;
  void check_answerable(nlohmann::ordered_json messages) const;
  Turn answer(nlohmann::ordered_json messages, const GenerateParams& params, const Sink& text);

  std::unique_ptr<Session> session_;
  std::shared_ptr<const chat::ChatTemplate> template_;
  chat::RenderOptions render_;
  /// Never null. Behind a pointer, so that who includes this need not compile the JSON library.
  std::unique_ptr<nlohmann::ordered_json> messages_;
  TokenLedger ledger_;
  uint64_t answers_ = 0;  ///< so far
};

}  // namespace minfer
