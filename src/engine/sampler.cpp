#include "engine/sampler.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "base/error.h"
#include "base/random.h"
#include "engine/top_logits.h"

namespace minfer {
namespace {

void check_range(std::string_view name, double value, double low, double high) {
  if (!(value >= low && value <= high))
    throw Error(ErrorCode::bad_request, fmt::format("{} is {}, expected {} to {}", name, value, low, high));
}

}  // namespace

struct Sampler::State {
  SamplingParams params;
  Random random;
  std::vector<float> penalised;  ///< a copy of the logits, where penalties change any
  std::vector<Candidate> candidates;

  explicit State(const SamplingParams& p) : params(p), random(p.seed) {}

  /// Over the last `penalty_window` tokens, each distinct one once: minus count * frequency + presence, then
  /// the repeat penalty divides a positive logit and multiplies another.
  std::span<const float> after_penalties(std::span<const float> logits, std::span<const Token> history) {
    const bool none =
        params.repeat_penalty == 1.0f && params.frequency_penalty == 0 && params.presence_penalty == 0;
    if (none) return logits;
    penalised.assign(logits.begin(), logits.end());
    const size_t window = std::min(history.size(), size_t(params.penalty_window));
    std::unordered_map<Token, int> counts;
    for (Token id : history.last(window)) ++counts[id];
    for (const auto& [id, count] : counts) {
      if (id < 0 || size_t(id) >= logits.size()) continue;
      float& l = penalised[size_t(id)];
      l -= float(count) * params.frequency_penalty + params.presence_penalty;
      l = l > 0 ? l / params.repeat_penalty : l * params.repeat_penalty;
    }
    return penalised;
  }

  /// Weights relative to the largest, at temperature `t`.
  std::vector<double> weights(double t) const {
    std::vector<double> w;
    for (const Candidate& c : candidates)
      w.push_back(std::exp((double(c.logit) - double(candidates[0].logit)) / t));
    return w;
  }

  /// Keeps the most probable tokens through the one that crosses p; probabilities are those before
  /// temperature.
  void select_top_p() {
    if (params.top_p >= 1.0f) return;
    const std::vector<double> w = weights(1.0);
    double total = 0;
    for (double x : w) total += x;
    double sum = 0;
    size_t keep = 0;
    do sum += w[keep++];
    while (keep < w.size() && sum < double(params.top_p) * total);
    candidates.resize(keep);
  }

  Token draw() {
    const std::vector<double> w = weights(params.temperature);
    double total = 0;
    for (double x : w) total += x;
    double left = random.uniform() * total;
    size_t last = 0;
    for (size_t i = 0; i < w.size(); ++i) {
      left -= w[i];
      if (left < 0) return candidates[i].id;
      if (w[i] > 0) last = i;
    }
    return candidates[last].id;  // rounding left a crumb; it goes to none that is ruled out
  }
};

Sampler::Sampler(const SamplingParams& params) {
  check_range("temperature", params.temperature, 0, 100);
  check_range("top_k", params.top_k, 0, 1e9);
  check_range("top_p", params.top_p, 0, 1);
  check_range("repeat_penalty", params.repeat_penalty, 0.01, 100);
  check_range("frequency_penalty", params.frequency_penalty, -100, 100);
  check_range("presence_penalty", params.presence_penalty, -100, 100);
  check_range("penalty_window", params.penalty_window, 0, 1e9);
  state_ = std::make_unique<State>(params);
}

Sampler::~Sampler() = default;

Token Sampler::sample(std::span<const float> logits, std::span<const Token> history, int32_t vocab_size) {
  MINFER_CHECK(vocab_size > 0 && size_t(vocab_size) <= logits.size(), "the vocabulary fits the logits");
  State& s = *state_;
  const std::span<const float> likely = s.after_penalties(logits.first(size_t(vocab_size)), history);
  if (s.params.temperature < 1e-6f) return first_maximum(likely);
  best_candidates(likely, size_t(s.params.top_k), s.candidates);
  s.select_top_p();
  return s.draw();
}

}  // namespace minfer
