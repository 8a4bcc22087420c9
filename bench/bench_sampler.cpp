#include <cstdio>
#include <vector>

#include "base/random.h"
#include "ceilings.h"
#include "engine/sampler.h"

/// Time to choose one token among the logits of a large vocabulary.
using namespace minfer;
using namespace minfer::bench;

int main() {
  constexpr int32_t vocabulary = 151936;
  Random random(1);
  std::vector<float> logits;
  for (int32_t i = 0; i < vocabulary; ++i) logits.push_back(float(12 * random.uniform() - 6));
  const std::vector<Token> history{1, 2, 3, 2};
  const auto report = [&](const char* name, const SamplingParams& params) {
    Sampler sampler(params);
    const double s = seconds([&] {
      for (int i = 0; i < 10; ++i) sampler.sample(logits, history, vocabulary);
    });
    std::printf("%-28s %.3f ms a token of %d\n", name, 1e2 * s, vocabulary);
  };
  SamplingParams params;
  report("top-k 40, top-p 0.95", params);
  params.repeat_penalty = 1.1f;
  report("the same, repeat penalty 1.1", params);
  params.temperature = 0;
  params.repeat_penalty = 1.0f;
  report("temperature 0", params);
}
