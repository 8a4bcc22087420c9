#include "engine/generate.h"

#include <fmt/format.h>

#include <chrono>

#include "base/error.h"
#include "engine/stop_filter.h"

namespace minfer {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

bool cancelled(const GenerateParams& params) { return params.cancel && params.cancel->load(); }

/// From token to shown text: whole characters, then stop strings, then the caller.
class Output {
 public:
  Output(const Tokenizer& tokenizer, std::span<const Token> prompt, const GenerateParams& params,
         const std::function<bool(std::string_view)>& sink)
      : decoder_(tokenizer, false, prompt), filter_(params.stop), sink_(sink) {}

  /// The reason to stop after this token, if there is one.
  std::optional<StopReason> push(Token id) {
    const bool wants_more = show(filter_.push(decoder_.push(id)));
    if (filter_.stopped()) return StopReason::stop_string;
    return wants_more ? std::nullopt : std::optional(StopReason::cancelled);
  }

  /// Releases what was held back; true if a stop string turned out to be complete.
  bool finish() {
    show(filter_.push(decoder_.finish()));
    show(filter_.finish());
    return filter_.stopped();
  }

 private:
  bool show(const std::string& text) { return text.empty() || sink_(text); }

  StreamDecoder decoder_;
  StopFilter filter_;
  const std::function<bool(std::string_view)>& sink_;
};

}  // namespace

GenerateResult generate(Session& session, std::span<const Token> prompt, const GenerateParams& params,
                        const std::function<bool(std::string_view)>& text) {
  const Tokenizer& tokenizer = session.model().tokenizer();
  Sampler sampler(params.sampling);
  Output output(tokenizer, prompt, params, text);
  GenerateResult result{};
  const size_t before = session.tokens().size();

  auto start = std::chrono::steady_clock::now();
  std::span<const float> logits = session.decode(prompt, params.cancel);
  result.prompt_seconds = seconds_since(start);
  result.prompt_tokens = int64_t(session.tokens().size() - before);

  start = std::chrono::steady_clock::now();
  std::vector<Token> history = session.tokens();
  result.reason = StopReason::length;
  while (params.max_tokens < 0 || result.generated_tokens < params.max_tokens) {
    if (logits.empty() || cancelled(params)) {
      result.reason = StopReason::cancelled;
      break;
    }
    const Token id = sampler.sample(logits, history, tokenizer.size());
    history.push_back(id);
    result.tokens.push_back(id);
    ++result.generated_tokens;
    if (tokenizer.is_end(id)) {
      result.reason = StopReason::end_token;
      break;
    }
    if (const auto reason = output.push(id)) {
      result.reason = *reason;
      break;
    }
    if (result.generated_tokens == params.max_tokens) break;
    if (int64_t(session.tokens().size()) >= session.n_ctx()) {
      result.reason = StopReason::context_full;
      break;
    }
    logits = session.decode({&id, 1}, params.cancel);
  }
  if (result.reason != StopReason::stop_string && result.reason != StopReason::cancelled && output.finish())
    result.reason = StopReason::stop_string;
  result.generate_seconds = seconds_since(start);
  return result;
}

}  // namespace minfer
