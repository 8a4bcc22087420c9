#include "golden/check.h"
#include "worse.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace minfer::golden {
namespace {

/// Largest error of a row, in units of the case's largest logit.
double error_of(std::span<const float> row, const Case& c) {
  REQUIRE(row.size() == c.last_logits.size());
  double worst = 0;
  for (size_t i = 0; i < row.size(); ++i) worst = test::worse(worst, std::fabs(row[i] - c.last_logits[i]));
  return worst / c.max_abs_logit;
}

double mean_nll(const std::vector<float>& logits, const std::vector<Token>& prompt) {
  const size_t vocab = logits.size() / prompt.size();
  double sum = 0;
  for (size_t t = 0; t + 1 < prompt.size(); ++t) {
    const float* row = &logits[t * vocab];
    const double max = *std::max_element(row, row + vocab);
    double total = 0;
    for (size_t i = 0; i < vocab; ++i) total += std::exp(row[i] - max);
    sum += max + std::log(total) - row[size_t(prompt[t + 1])];
  }
  return sum / double(prompt.size() - 1);
}

/// Two logits may each be off by the tolerance: a gap above twice that decides the argmax.
double deciding_gap(double tolerance, const Case& c) { return 2 * tolerance * c.max_abs_logit; }

void check_argmax(const std::vector<float>& logits, const Case& c, double tolerance) {
  const size_t vocab = logits.size() / c.prompt.size();
  size_t decided = 0;
  for (size_t t = 0; t < c.prompt.size(); ++t) {
    const Top best = top(std::span(logits).subspan(t * vocab, vocab));
    if (best.gap <= deciding_gap(tolerance, c)) continue;
    ++decided;
    CHECK_MESSAGE(best.id == c.argmax[t], "position ", t);
  }
  CHECK(decided > 0);  // else nothing was compared
}

/// Forces the reference's tokens, so that one close call does not decide the rest.
void check_greedy(Session& session, const Case& c, double tolerance) {
  session.truncate(int64_t(c.prompt.size()) - 1);
  Token next = c.prompt.back();
  for (size_t step = 0; step < c.greedy.size(); ++step) {
    const Top best = top(session.decode({&next, 1}));
    if (c.greedy_gap[step] > deciding_gap(tolerance, c))
      CHECK_MESSAGE(best.id == c.greedy[step], "step ", step);
    next = c.greedy[step];
  }
}

}  // namespace

double check_file(const std::string& name, const SessionOptions& options, double tolerance, size_t longest) {
  double worst = 0;
  for (const Case& c : cases(name)) {
    if (c.prompt.size() > longest) continue;
    CAPTURE(c.prompt.size());
    const auto run = session(name, options);
    const std::vector<float> logits = all_logits(*run, c.prompt);
    const size_t vocab = c.last_logits.size();
    const double error = error_of(std::span(logits).last(vocab), c);
    CHECK(error <= tolerance);
    worst = test::worse(worst, error);
    check_argmax(logits, c, tolerance);
    CHECK(std::fabs(mean_nll(logits, c.prompt) - c.mean_nll) <= deciding_gap(tolerance, c));
    check_greedy(*run, c, tolerance);
  }
  return worst;
}

void report(const std::string& name, std::string_view kv, double error, double tolerance) {
  fmt::print("{:18} kv {:5} error {:.2e} of max |logit|, tolerance {:.1e}\n", name, kv, error, tolerance);
}

}  // namespace minfer::golden
