#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tokenizer/tokenizer.h"

namespace minfer {

struct SamplingParams {
  float temperature = 0.8f;  ///< below 1e-6: the first maximum
  int top_k = 40;            ///< 0: all
  float top_p = 0.95f;       ///< 1: all
  float repeat_penalty = 1.0f;
  float frequency_penalty = 0.0f;
  float presence_penalty = 0.0f;
  int penalty_window = 64;  ///< last tokens, prompt tail included
  uint64_t seed = 42;
};

/// Penalties, then top-k, top-p, temperature. Same seed and logits, same tokens, on every machine.
class Sampler {
 public:
  /// Throws Error{bad_request} naming a parameter out of its range.
  explicit Sampler(const SamplingParams& params);
  ~Sampler();
  /// `vocab_size`: ids from here on are padding rows and are never chosen.
  Token sample(std::span<const float> logits, std::span<const Token> history, int32_t vocab_size);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace minfer
