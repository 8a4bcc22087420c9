#pragma once
#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "engine/sampler.h"
#include "engine/session.h"

namespace minfer {

enum class StopReason { end_token, stop_string, length, cancelled, context_full };

struct GenerateParams {
  SamplingParams sampling;
  int64_t max_tokens = 512;                   ///< -1: until the context is full
  std::vector<std::string> stop;              ///< earliest start wins; never shown, not even in part
  const std::atomic<bool>* cancel = nullptr;  ///< ends the prompt's pass too, see Session::decode
};

struct GenerateResult {
  StopReason reason;
  int64_t prompt_tokens = 0;  ///< computed: all of the prompt, or whole chunks where it was cancelled
  int64_t generated_tokens = 0;
  double prompt_seconds = 0, generate_seconds = 0;
  std::vector<Token> tokens;  ///< generated, an end token included
};

/// Prefills `prompt`, then samples. `text` receives whole characters as they become certain; it returns false
/// to cancel. Throws as Session::decode does.
GenerateResult generate(Session& session, std::span<const Token> prompt, const GenerateParams& params,
                        const std::function<bool(std::string_view)>& text);

}  // namespace minfer
