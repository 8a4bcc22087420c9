#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "golden/golden.h"
#include "tolerance.h"

using namespace minfer;

namespace {

/// Largest error of a row, in units of the case's largest logit.
double error_of(std::span<const float> row, const golden::Case& c) {
  REQUIRE(row.size() == c.last_logits.size());
  double worst = 0;
  for (size_t i = 0; i < row.size(); ++i) worst = std::max(worst, std::fabs(row[i] - c.last_logits[i]));
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
double deciding_gap(double tolerance, const golden::Case& c) { return 2 * tolerance * c.max_abs_logit; }

void check_argmax(const std::vector<float>& logits, const golden::Case& c, double tolerance) {
  const size_t vocab = logits.size() / c.prompt.size();
  size_t decided = 0;
  for (size_t t = 0; t < c.prompt.size(); ++t) {
    const auto top = golden::top(std::span(logits).subspan(t * vocab, vocab));
    if (top.gap <= deciding_gap(tolerance, c)) continue;
    ++decided;
    CHECK_MESSAGE(top.id == c.argmax[t], "position ", t);
  }
  CHECK(decided > 0);  // else nothing was compared
}

/// Forces the reference's tokens, so that one close call does not decide the rest.
void check_greedy(Session& session, const golden::Case& c, double tolerance) {
  session.truncate(int64_t(c.prompt.size()) - 1);
  Token next = c.prompt.back();
  for (size_t step = 0; step < c.greedy.size(); ++step) {
    const auto top = golden::top(session.decode({&next, 1}));
    if (c.greedy_gap[step] > deciding_gap(tolerance, c))
      CHECK_MESSAGE(top.id == c.greedy[step], "step ", step);
    next = c.greedy[step];
  }
}

/// All prompts of a file; returns the largest error of the last logits.
double check_file(const std::string& name, const SessionOptions& options, double tolerance) {
  double worst = 0;
  for (const golden::Case& c : golden::cases(name)) {
    CAPTURE(c.prompt.size());
    const auto session = golden::session(name, options);
    const std::vector<float> logits = golden::all_logits(*session, c.prompt);
    const size_t vocab = c.last_logits.size();
    const double error = error_of(std::span(logits).last(vocab), c);
    CHECK(error <= tolerance);
    worst = std::max(worst, error);
    check_argmax(logits, c, tolerance);
    CHECK(std::fabs(mean_nll(logits, c.prompt) - c.mean_nll) <= deciding_gap(tolerance, c));
    check_greedy(*session, c, tolerance);
  }
  return worst;
}

void report(const std::string& name, std::string_view kv, double error, double tolerance) {
  fmt::print("{:18} kv {:5} error {:.2e} of max |logit|, tolerance {:.1e}\n", name, kv, error, tolerance);
}

}  // namespace

TEST_CASE("every reference model: logits, argmax at each position, likelihood, greedy continuation") {
  for (const golden::Reference& r : golden::references()) {
    CAPTURE(r.name);
    report(r.name, "f32", check_file(r.name, golden::options(), r.tolerance), r.tolerance);
  }
}

TEST_CASE("packed KV: each format stays in its class on every reference model") {
  for (const auto& [format, added] :
       {std::pair(KvFormat::f16, tol::kv_f16), std::pair(KvFormat::q8_0, tol::kv_q8_0)}) {
    SessionOptions options = golden::options();
    options.kv_format = format;
    for (const golden::Reference& r : golden::references()) {
      CAPTURE(r.name);
      const double tolerance = r.tolerance + added;
      report(r.name, name(format), check_file(r.name, options, tolerance), tolerance);
    }
  }
}

TEST_CASE("packed KV really differs from f32") {
  const golden::Case c = golden::cases("qwen2-f32")[0];
  const std::vector<float> plain = golden::all_logits(*golden::session("qwen2-f32"), c.prompt);
  for (const KvFormat format : {KvFormat::f16, KvFormat::q8_0}) {
    SessionOptions options = golden::options();
    options.kv_format = format;
    CHECK(golden::all_logits(*golden::session("qwen2-f32", options), c.prompt) != plain);
  }
}
