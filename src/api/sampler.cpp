#include "api/sampler.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "api/session.h"
#include "api/support.h"
#include "base/error.h"

using namespace minfer;

namespace minfer::api {
namespace {

minfer_sampling default_sampling() {
  const SamplingParams p;
  return {.size = sizeof(minfer_sampling),
          .temperature = p.temperature,
          .top_k = p.top_k,
          .top_p = p.top_p,
          .repeat_penalty = p.repeat_penalty,
          .frequency_penalty = p.frequency_penalty,
          .presence_penalty = p.presence_penalty,
          .penalty_window = p.penalty_window,
          .seed = p.seed};
}

/// One call's hold on a sampler, whose random numbers a second one would mix up.
class Hold {
 public:
  explicit Hold(minfer_sampler* sampler) : sampler_((require(sampler, "sampler"), *sampler)) {
    if (sampler_.busy.exchange(true, std::memory_order_acquire))
      throw Error(ErrorCode::bad_request, "the sampler is in use by another call",
                  "one call at a time: give each thread a sampler of its own");
  }
  ~Hold() { sampler_.busy.store(false, std::memory_order_release); }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;
  Sampler& operator*() const { return sampler_.sampler; }

 private:
  minfer_sampler& sampler_;
};

/// Throws Error{bad_request} for logits that no probabilities follow from.
void check_logits(std::span<const float> logits) {
  bool any = false;
  for (size_t i = 0; i < logits.size(); ++i) {
    if (std::isnan(logits[i]) || logits[i] == std::numeric_limits<float>::infinity())
      throw Error(ErrorCode::bad_request, fmt::format("the logit of token {} is {}", i, logits[i]),
                  "a logit is a finite number, or minus infinity to rule the token out");
    any = any || std::isfinite(logits[i]);
  }
  if (!any)
    throw Error(ErrorCode::bad_request, fmt::format("of {} logits none is finite", logits.size()),
                "leave at least one token to choose");
}

}  // namespace

SamplingParams engine_sampling(const minfer_sampling* given) {
  const minfer_sampling all = read_struct(given, default_sampling(), "sampling");
  return {.temperature = all.temperature,
          .top_k = all.top_k,
          .top_p = all.top_p,
          .repeat_penalty = all.repeat_penalty,
          .frequency_penalty = all.frequency_penalty,
          .presence_penalty = all.presence_penalty,
          .penalty_window = all.penalty_window,
          .seed = all.seed};
}

}  // namespace minfer::api

extern "C" {

minfer_status minfer_sampling_init(minfer_sampling* sampling, size_t size) {
  return api::guarded([&] { api::write_struct(sampling, size, api::default_sampling(), "sampling"); });
}

minfer_status minfer_sampler_create(const minfer_sampling* sampling, minfer_sampler** sampler) {
  return api::guarded([&] {
    api::require(sampler, "sampler");
    *sampler = std::make_unique<minfer_sampler>(api::engine_sampling(sampling)).release();
  });
}

void minfer_sampler_free(minfer_sampler* sampler) { delete sampler; }

minfer_status minfer_sampler_sample(minfer_sampler* sampler, minfer_session* session, int32_t* token) {
  return api::guarded([&] {
    const api::Hold hold(sampler);
    const api::Use use(session);
    api::require(token, "token");
    if (use->logits.empty())
      throw Error(ErrorCode::bad_request, "the session has no logits",
                  "decode at least one token since the last truncate, generate or failure");
    *token = (*hold).sample(use->logits, use->session->tokens(), use->session->model().tokenizer().size());
  });
}

minfer_status minfer_sampler_sample_logits(minfer_sampler* sampler, const float* logits, size_t n_logits,
                                           const int32_t* history, size_t n_history, int32_t* token) {
  return api::guarded([&] {
    const api::Hold hold(sampler);
    api::require(logits, "logits");
    const auto before = api::token_argument(history, n_history, "history");
    api::require(token, "token");
    if (n_logits == 0 || n_logits > api::most_tokens)
      throw Error(ErrorCode::bad_request,
                  fmt::format("argument `n_logits` is {}, expected 1 to {}", n_logits, api::most_tokens));
    api::check_logits({logits, n_logits});
    *token = (*hold).sample({logits, n_logits}, before, int32_t(n_logits));
  });
}
}
