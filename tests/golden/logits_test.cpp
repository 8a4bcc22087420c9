#include <doctest/doctest.h>

#include "golden/check.h"
#include "tolerance.h"

using namespace minfer;

TEST_CASE("every reference model: logits, argmax at each position, likelihood, greedy continuation") {
  for (const golden::Reference& r : golden::references()) {
    CAPTURE(r.name);
    golden::report(r.name, "f32", golden::check_file(r.name, golden::options(), r.tolerance), r.tolerance);
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
      golden::report(r.name, name(format), golden::check_file(r.name, options, tolerance), tolerance);
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
