#include "engine/conversation.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/log.h"
#include "engine/chat_history.h"
#include "tokenizer/utf8.h"

namespace minfer {
namespace {

using Json = nlohmann::ordered_json;

/// Cells that should be free for an answer; with less, old messages leave first.
int64_t room_for_answer(int64_t n_ctx, const GenerateParams& params) {
  const int64_t room = n_ctx / 8;
  return params.max_tokens < 0 ? room : std::min(room, params.max_tokens);
}

void check_utf8(std::string_view text) {
  const size_t valid = utf8::valid_prefix(text);
  if (valid < text.size())
    throw Error(ErrorCode::bad_request,
                fmt::format("the text is no UTF-8: byte {} of {} is {:#04x}", valid, text.size(),
                            static_cast<unsigned char>(text[valid])),
                "convert it to UTF-8");
}

int64_t common_prefix(std::span<const Token> a, std::span<const Token> b) {
  return std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin();
}

}  // namespace

Conversation::Conversation(std::unique_ptr<Session> session,
                           std::shared_ptr<const chat::ChatTemplate> chat_template,
                           chat::RenderOptions render)
    : session_(std::move(session)),
      template_(std::move(chat_template)),
      render_(std::move(render)),
      messages_(std::make_unique<Json>(Json::array())),
      ledger_(session_->model().tokenizer()) {}

Conversation::~Conversation() = default;

TokenLedger::Plan Conversation::plan(const Json& messages, bool add_generation_prompt) const {
  chat::RenderOptions options = render_;
  options.add_generation_prompt = add_generation_prompt;
  return ledger_.plan(template_->render(messages, options));
}

size_t Conversation::message_count() const { return messages_->size(); }

std::vector<Token> Conversation::history_tokens() const {
  return messages_->empty() ? std::vector<Token>() : plan(*messages_, false).tokens;
}

/// The plan of a history that fits, after dropping from it what does not. When anything has to go, a quarter
/// of the context is freed at once: all that stays is computed anew, and should not be again with the next
/// turn.
TokenLedger::Plan Conversation::make_room(Json& messages, const GenerateParams& params) const {
  const int64_t n_ctx = session_->n_ctx();
  const size_t before = messages.size();
  int64_t limit = n_ctx - room_for_answer(n_ctx, params);
  for (;;) {
    TokenLedger::Plan plan = this->plan(messages, true);
    const int64_t needed = int64_t(plan.tokens.size());
    if (needed <= limit || !drop_oldest_exchange(messages)) {
      if (needed > n_ctx)
        throw Error(ErrorCode::context_length_exceeded,
                    fmt::format("the message and what precedes every message are {} tokens, the context "
                                "holds {}",
                                needed, n_ctx),
                    "shorten the message or raise --n-ctx");
      if (messages.size() < before)
        log(LogLevel::warning, "the context of {} tokens is full: the {} oldest messages were dropped", n_ctx,
            before - messages.size());
      return plan;
    }
    limit = n_ctx - n_ctx / 4;
  }
}

Conversation::Turn Conversation::answer(Json messages, const GenerateParams& params, const Sink& text) {
  Turn turn;
  const size_t before = messages.size();
  const TokenLedger::Plan plan = make_room(messages, params);
  turn.dropped = int64_t(before - messages.size());
  if (plan.tokens.empty())
    throw Error(ErrorCode::bad_model, "the chat template renders these messages as nothing",
                "use a file with another template");
  // The last token is always computed: its logits choose the first token of the answer.
  turn.reused = std::min(common_prefix(session_->tokens(), plan.tokens), int64_t(plan.tokens.size()) - 1);

  session_->truncate(turn.reused);
  GenerateParams own = params;
  own.sampling.seed += answers_;
  std::string answer;
  turn.result = generate(*session_, std::span(plan.tokens).subspan(size_t(turn.reused)), own,
                         [&](std::string_view piece) {
                           answer += piece;
                           return text(piece);
                         });
  if (turn.result.reason == StopReason::cancelled && answer.empty()) {
    turn.kept = false;
    return turn;
  }
  answer.resize(utf8::valid_prefix(answer));  // a stop string may be any bytes
  const size_t usable = ledger_.record(plan, answer, turn.result.tokens);
  const int64_t length = int64_t(plan.tokens.size() + usable);
  session_->truncate(std::min(length, int64_t(session_->tokens().size())));
  messages.push_back({{"role", "assistant"}, {"content", std::move(answer)}});
  *messages_ = std::move(messages);
  ++answers_;
  return turn;
}

Conversation::Turn Conversation::ask(std::string_view message, const GenerateParams& params,
                                     const Sink& text) {
  check_utf8(message);
  Json messages = *messages_;
  messages.push_back({{"role", "user"}, {"content", message}});
  return answer(std::move(messages), params, text);
}

Conversation::Turn Conversation::regenerate(const GenerateParams& params, const Sink& text) {
  Json messages = *messages_;
  if (!drop_last_answer(messages))
    throw Error(ErrorCode::bad_request, "there is no message to answer again", "ask something first");
  return answer(std::move(messages), params, text);
}

void Conversation::clear() { keep_system_messages(*messages_); }

/// Throws what the template would throw when these messages are answered, after one more if need be.
void Conversation::check_answerable(Json messages) const {
  if (messages.empty() || messages.back()["role"] != "user")
    messages.push_back({{"role", "user"}, {"content", "Hello."}});
  plan(messages, true);
}

void Conversation::set_system(std::string_view text) {
  check_utf8(text);
  Json messages = *messages_;
  set_system_message(messages, text);
  check_answerable(messages);
  *messages_ = std::move(messages);
}

std::string Conversation::system() const { return system_message(*messages_); }

void Conversation::set_messages(Json messages) {
  check_history(messages);
  check_answerable(messages);
  *messages_ = std::move(messages);
}

}  // namespace minfer
