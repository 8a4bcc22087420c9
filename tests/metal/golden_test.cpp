#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <list>

#include "backends/registry.h"
#include "environment.h"
#include "golden/check.h"
#include "metal/metal_device.h"
#include "models/variant.h"
#include "tolerance.h"
#include "worse.h"

/// Whole models on the Metal device against float64 reference runs, by every way through its kernels.
namespace minfer::test {
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

void check_and_report(const std::string& model, const SessionOptions& options, size_t longest = SIZE_MAX) {
  CAPTURE(model);
  const double tolerance = tolerance_of(*options.kv_format);
  const double error = golden::check_file(model, options, tolerance, longest);
  golden::report(model, name(*options.kv_format), error, tolerance);
}

constexpr KvFormat formats[] = {KvFormat::f32, KvFormat::f16, KvFormat::q8_0};

/// The logits of 70 tokens in a call, then of three one by one: a tile of rows and its tail, prefill and
/// decode.
std::vector<float> all_ways(Session& session) {
  std::vector<Token> prompt(70);
  for (size_t i = 0; i < prompt.size(); ++i) prompt[i] = Token((i * 37 + 11) % 300);
  std::vector<float> logits = golden::all_logits(session, prompt);
  const std::vector<float> steps = golden::all_logits(session, {7, 100, 29}, 1);
  logits.insert(logits.end(), steps.begin(), steps.end());
  return logits;
}

/// Of the largest logit.
double difference(const std::vector<float>& a, const std::vector<float>& b) {
  REQUIRE(a.size() == b.size());
  double most = 0, worst = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    most = std::max(most, std::abs(double(a[i])));
    worst = worse(worst, std::abs(double(a[i]) - double(b[i])));
  }
  return worst / most;
}

/// Variables that are set together.
using Setting = std::vector<std::pair<std::string, std::string>>;

class Settings {
 public:
  explicit Settings(const Setting& setting) {
    for (const auto& [variable, value] : setting) variables_.emplace_back(variable, value);
  }

 private:
  std::list<Environment> variables_;
};

}  // namespace

TEST_CASE("metal: every reference model in every KV format" * doctest::skip(checked)) {
  for (const KvFormat format : formats) {
    // Software is slow, and the longest prompts have a case of their own below, in every format.
    const size_t longest = format == KvFormat::f32 ? SIZE_MAX : 100;
    for (const golden::Reference& r : golden::references()) {
      check_and_report(r.name, metal_options(format), longest);
    }
  }
}

// The same under the checker, each dispatch in three orders of lanes, for prompts of 33 tokens and 16 steps.
constexpr size_t checked_prompt = 33;

TEST_CASE("metal: a reference model of each architecture, in a KV format each, under the checker" *
          doctest::skip(!checked)) {
  check_and_report("qwen2-mixed-k", metal_options(KvFormat::f32), checked_prompt);
  check_and_report("qwen3-q8_0", metal_options(KvFormat::f16), checked_prompt);
  check_and_report("llama-q4_1", metal_options(KvFormat::q8_0), checked_prompt);
}

TEST_CASE("metal: every reference model in every KV format, under the checker" * doctest::skip()) {
  for (const KvFormat format : formats) {
    for (const golden::Reference& r : golden::references()) {
      check_and_report(r.name, metal_options(format), checked_prompt);
    }
  }
}

TEST_CASE("metal: prompts of up to 700 tokens in chunks that are no multiple of a tile" *
          doctest::skip(checked)) {
  for (const KvFormat format : formats) {
    for (const char* model : {"qwen2-mixed-k", "qwen3-f16", "llama-q4_1"}) {
      SessionOptions options = metal_options(format);
      options.prefill_chunk = 59;
      check_and_report(model, options);
    }
  }
}

TEST_CASE("metal: every kernel switch takes another way to the same logits" * doctest::skip(checked)) {
  const Setting settings[] = {
      {{"MINFER_NO_PREFILL_FLASH", "1"}}, {{"MINFER_NO_PREFILL_FLASH", "1"}, {"MINFER_NO_MATMUL_ATTN", "1"}},
      {{"MINFER_NO_FLASH", "1"}},         {{"MINFER_NO_FLASH", "1"}, {"MINFER_NO_SPLIT_ATTN", "1"}},
      {{"MINFER_ATTN_CHUNKS", "1"}},      {{"MINFER_GEMM", "0"}},
  };
  const SessionOptions options = metal_options(KvFormat::f32);
  const std::vector<float> plain = all_ways(*golden::session("qwen2-q4_0", options));
  for (const Setting& setting : settings) {
    CAPTURE(setting.back().first);
    const Settings set(setting);
    const std::vector<float> other = all_ways(*golden::session("qwen2-q4_0", options));
    CHECK_FALSE(same_bits(other, plain));  // else the switch does nothing
    CHECK(difference(other, plain) <= tol::metal_logits);
  }
}

TEST_CASE("metal: barriers where they are needed or everywhere, weights in place or copied, the same bits" *
          doctest::skip(checked)) {
  const Setting settings[] = {{{"MINFER_METAL_BARRIERS", "all"}}, {{"MINFER_WEIGHT_COPY", "1"}}};
  for (const KvFormat format : formats) {
    const SessionOptions options = metal_options(format);
    const std::vector<float> plain = all_ways(*golden::session("qwen3-q8_0", options));
    for (const Setting& setting : settings) {
      CAPTURE(setting.back().first);
      const Settings set(setting);
      CHECK(same_bits(all_ways(*golden::session("qwen3-q8_0", options)), plain));
    }
  }
}

TEST_CASE("metal: packed rows read where they are or through an f32 copy" * doctest::skip(checked)) {
  const SessionOptions options = metal_options(KvFormat::q8_0);
  const std::vector<float> native = all_ways(*golden::session("qwen3-f16", options));
  const Environment staged("MINFER_PACKED_KV_STAGE", "1");
  // Only the order of sums may differ, but a sum that falls on the other side of a rounding is stored so.
  CHECK(difference(all_ways(*golden::session("qwen3-f16", options)), native) <= tol::kv_q8_0);
  golden::check_file("qwen3-f16", options, tolerance_of(KvFormat::q8_0));
}

TEST_CASE("metal: the GEMM with operands in half stays in its class, and is another one" *
          doctest::skip(checked)) {
  const SessionOptions options = metal_options(KvFormat::f32);
  for (const char* model : {"qwen2-q4_0", "llama-q6_k"}) {
    const std::vector<float> plain = all_ways(*golden::session(model, options));
    const Environment half("MINFER_HALF_STAGING", "1");
    const double error = golden::check_file(model, options, tol::metal_gemm_half);
    golden::report(model, "f32", error, tol::metal_gemm_half);
    CHECK_FALSE(same_bits(all_ways(*golden::session(model, options)), plain));
  }
}

TEST_CASE("metal: head widths that no reference model has" * doctest::skip(checked)) {
  // 80, 96 and 256 have kernels of their own, 40 takes the classic one.
  for (const int64_t width : {40, 80, 96, 256}) {
    CAPTURE(width);
    Variant variant("qwen3-f16");
    variant.set("qwen3.attention.key_length", uint32_t(width));
    variant.set("qwen3.attention.value_length", uint32_t(width));
    Source source{uint32_t(width)};
    const auto matrix = [&](const std::string& name, int64_t cols, int64_t rows) {
      std::vector<float> values = source.normals(cols * rows);
      for (float& value : values) value /= std::sqrt(float(cols));
      variant.floats(name, {cols, rows}, values);
    };
    const std::vector<float> ones(size_t(width), 1.0f);
    for (const char* block : {"blk.0.", "blk.1."}) {
      const std::string prefix = block;
      matrix(prefix + "attn_q.weight", 256, 4 * width);
      matrix(prefix + "attn_k.weight", 256, 2 * width);
      matrix(prefix + "attn_v.weight", 256, 2 * width);
      matrix(prefix + "attn_output.weight", 4 * width, 256);
      variant.floats(prefix + "attn_q_norm.weight", {width}, ones);
      variant.floats(prefix + "attn_k_norm.weight", {width}, ones);
    }
    const auto model = variant.load();
    const std::vector<float> right = all_ways(*Session::create(model, golden::options()));
    for (const KvFormat format : formats) {
      if (format == KvFormat::q8_0 && 2 * width % 32 != 0) continue;
      CAPTURE(name(format));
      const auto session = Session::create(model, metal_options(format));
      CHECK(difference(all_ways(*session), right) <= tolerance_of(format));
    }
  }
}

}  // namespace minfer::test
