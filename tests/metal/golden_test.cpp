#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "backends/registry.h"
#include "golden/check.h"
#include "tolerance.h"

using namespace minfer;

/// Whole models on the Metal device against float64 reference runs.
namespace {

SessionOptions metal_options(KvFormat format) {
  SessionOptions options = golden::options();
  options.device = std::string(device_kinds().back().name);
  options.kv_format = format;
  return options;
}

double tolerance_of(KvFormat format) {
  if (format == KvFormat::f16) return tol::metal_logits + tol::kv_f16;
  return format == KvFormat::q8_0 ? tol::metal_logits + tol::kv_q8_0 : tol::metal_logits;
}

constexpr KvFormat formats[] = {KvFormat::f32, KvFormat::f16, KvFormat::q8_0};

}  // namespace

TEST_CASE("metal: every reference model in every KV format") {
  for (const KvFormat format : formats) {
    for (const golden::Reference& r : golden::references()) {
      CAPTURE(r.name);
      const double error = golden::check_file(r.name, metal_options(format), tolerance_of(format));
      golden::report(r.name, name(format), error, tolerance_of(format));
    }
  }
}

TEST_CASE("metal: every reference model in chunks") {
  for (const KvFormat format : formats) {
    for (const golden::Reference& r : golden::references()) {
      CAPTURE(r.name);
      SessionOptions options = metal_options(format);
      options.prefill_chunk = 29;  // no multiple of a tile, and the last chunk of 30 tokens is a single one
      const double error = golden::check_file(r.name, options, tolerance_of(format));
      golden::report(r.name, name(format), error, tolerance_of(format));
    }
  }
}
