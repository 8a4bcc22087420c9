#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "base/error.h"
#include "engine/sampler.h"
#include "engine/top_logits.h"
#include "tolerance.h"

using namespace minfer;

namespace {

SamplingParams plain() {
  SamplingParams p;
  p.temperature = 1;
  p.top_k = 0;
  p.top_p = 1;
  return p;
}

std::vector<float> ramp(int vocab) {
  std::vector<float> logits;
  for (int i = 0; i < vocab; ++i) logits.push_back(float((i * 7) % vocab) * 0.25f);  // a permutation of steps
  return logits;
}

/// softmax(l / t), cut by nothing: written without the sampler's code.
std::vector<double> distribution(const std::vector<float>& logits, double t) {
  std::vector<double> p;
  for (float l : logits) p.push_back(std::exp(double(l) / t));
  const double total = std::accumulate(p.begin(), p.end(), 0.0);
  for (double& x : p) x /= total;
  return p;
}

double chi_square(const std::vector<double>& p, const SamplingParams& params,
                  const std::vector<float>& logits, int draws) {
  Sampler sampler(params);
  std::vector<int> seen(p.size());
  for (int i = 0; i < draws; ++i) ++seen[size_t(sampler.sample(logits, {}, int(p.size())))];
  double sum = 0;
  for (size_t i = 0; i < p.size(); ++i) {
    const double expected = p[i] * draws;
    if (expected == 0) CHECK(seen[i] == 0);
    if (expected > 0) sum += (seen[i] - expected) * (seen[i] - expected) / expected;
  }
  return sum;
}

Token greedy(const std::vector<float>& logits, const std::vector<Token>& history, SamplingParams p) {
  p.temperature = 0;
  return Sampler(p).sample(logits, history, int(logits.size()));
}

}  // namespace

TEST_CASE("draws follow the softmax at every temperature") {
  const std::vector<float> logits = ramp(10);
  for (const float t : {0.5f, 1.0f, 2.0f}) {
    CAPTURE(t);
    SamplingParams params = plain();
    params.temperature = t;
    CHECK(chi_square(distribution(logits, t), params, logits, 20000) < tol::chi_square_9);
  }
}

TEST_CASE("top-k keeps exactly the k largest") {
  const std::vector<float> logits = ramp(10);  // values 0, 7, 4, 1, 8, 5, 2, 9, 6, 3 quarters
  SamplingParams params = plain();
  params.top_k = 3;
  std::vector<double> p = distribution(logits, 1);
  double kept = p[7] + p[4] + p[1];
  for (size_t i = 0; i < p.size(); ++i) p[i] = i == 7 || i == 4 || i == 1 ? p[i] / kept : 0;
  CHECK(chi_square(p, params, logits, 20000) < tol::chi_square_9);
}

TEST_CASE("the best candidates are those of a full sort, whatever the order and however many are equal") {
  const auto checked = [](const std::vector<float>& logits) {
    std::vector<Candidate> all;
    for (size_t i = 0; i < logits.size(); ++i) all.push_back({Token(i), logits[i]});
    std::stable_sort(all.begin(), all.end(),
                     [](const Candidate& a, const Candidate& b) { return a.logit > b.logit; });
    CHECK(first_maximum(logits) == all[0].id);
    for (const size_t k : {0, 1, 2, 40, 256, 1000, 5000}) {
      std::vector<Candidate> best;
      best_candidates(logits, k, best);
      const size_t expected = k == 0 ? all.size() : std::min(k, all.size());
      REQUIRE(best.size() == expected);
      for (size_t i = 0; i < expected; ++i) {
        REQUIRE(best[i].id == all[i].id);
        REQUIRE(best[i].logit == all[i].logit);
      }
    }
  };
  constexpr float lowest = -std::numeric_limits<float>::infinity();
  for (const size_t n : {1, 3, 64, 65, 300, 4999}) {
    std::vector<float> rising, falling, mixed, few(n, 0.5f), ruled_out(n, lowest);
    for (size_t i = 0; i < n; ++i) {
      rising.push_back(float(i));
      falling.push_back(-float(i));
      mixed.push_back(float(i * 7919 % 4001));
      if (i % 5 == 1) few[i] = float(i % 3);
      if (i % 97 == 4) ruled_out[i] = -1.0f;
    }
    for (const auto& logits : {rising, falling, mixed, few, ruled_out}) checked(logits);
  }
}

TEST_CASE("top-p keeps tokens through the one that crosses p") {
  // Probabilities 1/2, 1/4, 1/8, 1/8: 0.6 is crossed by the second.
  const std::vector<float> logits = {std::log(4.0f), std::log(2.0f), 0.0f, 0.0f};
  SamplingParams params = plain();
  params.top_p = 0.6f;
  CHECK(chi_square({2.0 / 3, 1.0 / 3, 0, 0}, params, logits, 20000) < tol::chi_square_9);
  params.top_p = 0;  // the most probable always stays
  CHECK(chi_square({1, 0, 0, 0}, params, logits, 100) == 0);
}

TEST_CASE("temperature acts after top-p") {
  // At temperature 4 the flattened distribution would need three tokens to cross 0.6.
  const std::vector<float> logits = {std::log(4.0f), std::log(2.0f), 0.0f, 0.0f};
  SamplingParams params = plain();
  params.top_p = 0.6f;
  params.temperature = 4;
  const double a = std::pow(4, 0.25), b = std::pow(2, 0.25);
  CHECK(chi_square({a / (a + b), b / (a + b), 0, 0}, params, logits, 20000) < tol::chi_square_9);
}

TEST_CASE("temperature 0 takes the first of equal maxima") { CHECK(greedy({1, 3, 3, 2}, {}, plain()) == 1); }

TEST_CASE("padding rows are never chosen") {
  const std::vector<float> logits = {1, 2, 3, 100};
  Sampler sampler(plain());
  for (int i = 0; i < 200; ++i) CHECK(sampler.sample(logits, {}, 3) < 3);
  SamplingParams zero = plain();
  zero.temperature = 0;
  CHECK(Sampler(zero).sample(logits, {}, 3) == 2);
}

TEST_CASE("penalties, worked by hand") {
  SamplingParams p = plain();
  p.repeat_penalty = 2;
  CHECK(greedy({4, 3}, {0}, p) == 1);           // 4 / 2 = 2 is below 3
  CHECK(greedy({-2, -3}, {0}, p) == 1);         // -2 * 2 = -4 is below -3
  CHECK(greedy({4, 1.9f}, {0, 0, 0}, p) == 0);  // once for a distinct token, not once an occurrence
  p = plain();
  p.frequency_penalty = 0.5f;
  CHECK(greedy({4, 3.2f}, {0}, p) == 0);     // 3.5
  CHECK(greedy({4, 3.2f}, {0, 0}, p) == 1);  // 3.0
  p = plain();
  p.presence_penalty = 0.9f;
  CHECK(greedy({4, 3}, {0, 0, 0}, p) == 0);  // 3.1, whatever the count
  p.presence_penalty = 1.1f;
  CHECK(greedy({4, 3}, {0}, p) == 1);  // 2.9
  p = plain();
  p.frequency_penalty = 1;
  p.repeat_penalty = 2;
  CHECK(greedy({4, 1.6f}, {0}, p) == 1);  // (4 - 1) / 2 = 1.5: subtract first, divide then
  p.penalty_window = 2;
  CHECK(greedy({4, 1.6f, 0}, {0, 2, 2}, p) == 0);  // token 0 has left the window
}

TEST_CASE("the same seed gives the same tokens, another seed others") {
  const std::vector<float> logits = ramp(50);
  const auto draw = [&](uint64_t seed) {
    SamplingParams p = plain();
    p.seed = seed;
    Sampler sampler(p);
    std::vector<Token> tokens;
    for (int i = 0; i < 32; ++i) tokens.push_back(sampler.sample(logits, {}, 50));
    return tokens;
  };
  CHECK(draw(1) == draw(1));
  CHECK(draw(1) != draw(2));
}

TEST_CASE("parameters out of range are refused by name") {
  const auto refused = [](auto change, const std::string& named) {
    SamplingParams p;
    change(p);
    try {
      Sampler sampler(p);
      FAIL("accepted");
    } catch (const Error& e) {
      CHECK(e.code == ErrorCode::bad_request);
      CHECK(std::string(e.what()).find(named) != std::string::npos);
    }
  };
  refused([](SamplingParams& p) { p.temperature = -1; }, "temperature");
  refused([](SamplingParams& p) { p.temperature = NAN; }, "temperature");
  refused([](SamplingParams& p) { p.top_k = -1; }, "top_k");
  refused([](SamplingParams& p) { p.top_p = 1.5f; }, "top_p");
  refused([](SamplingParams& p) { p.repeat_penalty = 0; }, "repeat_penalty");
  refused([](SamplingParams& p) { p.penalty_window = -1; }, "penalty_window");
}
