#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "backends/registry.h"
#include "captures.h"
#include "golden/golden.h"
#include "metal/metal_device.h"
#include "tolerance.h"
#include "worse.h"

/// Values captured while a model runs: they change nothing, and both devices capture the same.
namespace minfer::test {
namespace {

SessionOptions on(const std::string& device, KvFormat format, const std::string& layers = "") {
  SessionOptions options = golden::options();
  options.n_ctx = 64;
  options.device = device;
  options.kv_format = format;
  options.gpu_layers = layers;
  return options;
}

std::string metal_name() { return std::string(device_kinds().back().name); }

/// Logits of a prompt that fills more than a tile, then of one token.
std::vector<float> prompt_and_step(const std::string& model, const SessionOptions& options) {
  const auto session = golden::session(model, options);
  std::vector<Token> prompt(checked ? 10 : 35);
  for (size_t i = 0; i < prompt.size(); ++i) prompt[i] = Token((i * 37 + 11) % 300);
  std::vector<float> logits = golden::all_logits(*session, prompt);
  const std::vector<float> step = golden::all_logits(*session, {7});
  logits.insert(logits.end(), step.begin(), step.end());
  return logits;
}

/// The largest error of a value, in units of its own largest element.
double difference(const std::vector<float>& a, const std::vector<float>& b) {
  double most = 0, worst = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    most = std::max(most, std::abs(double(a[i])));
    worst = worse(worst, std::abs(double(a[i]) - double(b[i])));
  }
  return worst / most;
}

/// Of every value that either captured.
void check_same(const Captures& expected, const Captures& found) {
  CHECK(found.size() == expected.size());
  for (const auto& [name, values] : expected) {
    CAPTURE(name);
    const auto other = found.find(name);
    REQUIRE(other != found.end());
    REQUIRE(other->second.size() == values.size());
    CHECK(difference(values, other->second) <= tol::metal_logits);
  }
}

}  // namespace

TEST_CASE("captures change no bit of the logits, on any device") {
  const std::pair<const char*, KvFormat> ways[] = {{"qwen2-q4_0", KvFormat::f16},
                                                   {"qwen3-q8_0", KvFormat::q8_0}};
  for (const auto& [model, format] : ways) {
    for (const std::string& device : {std::string("cpu"), metal_name()}) {
      CAPTURE(model);
      CAPTURE(device);
      const SessionOptions options = on(device, format);
      const std::vector<float> plain = prompt_and_step(model, options);
      std::vector<float> armed;
      const Captures values = captured([&] { armed = prompt_and_step(model, options); });
      CHECK(same_bits(armed, plain));
      // Two layers of a prompt and of a step: no fewer than a layer's norms, products, attention and sums.
      CHECK(values.size() > 40);
    }
  }
}

// Float weights: both devices compute in f32 then.
TEST_CASE("every value that a device captures is the CPU's, also of a split model") {
  for (const char* model : {"qwen2-f32", "qwen3-f16", "llama3rope-bf16"}) {
    if (checked && model != std::string("qwen3-f16")) continue;
    CAPTURE(model);
    const auto capture = [&](const std::string& device, const std::string& layers) {
      return captured([&] { prompt_and_step(model, on(device, KvFormat::f32, layers)); });
    };
    const Captures cpu = capture("cpu", "");
    check_same(cpu, capture(metal_name(), ""));
    check_same(cpu, capture(metal_name(), "1"));
  }
}

}  // namespace minfer::test
