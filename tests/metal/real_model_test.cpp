#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "backends/registry.h"
#include "cli/model_store.h"
#include "engine/session.h"
#include "metal/matvec_bench.h"
#include "quant/quant.h"
#include "worse.h"

/// The default model itself, as `minfer pull default` left it in the cache.
namespace minfer::test {
namespace {

std::shared_ptr<const Model> default_model() {
  static const std::shared_ptr<const Model> model =
      Model::load(cli::cached_path("SmolLM2-135M-Instruct.Q4_1").string());
  return model;
}

const Weight& weight_named(const Model& model, std::string_view name) {
  const auto& all = model.weights();
  return *std::find_if(all.begin(), all.end(), [&](const Weight& w) { return w.ref.name == name; });
}

std::vector<float> decoded(const Weight& weight) {
  std::vector<float> values(size_t(weight.ref.cols * weight.ref.rows));
  const size_t row = row_bytes(weight.ref.type, weight.ref.cols);
  for (int64_t r = 0; r < weight.ref.rows; ++r) {
    decode_row(weight.ref.type, weight.data.data() + size_t(r) * row, values.data() + r * weight.ref.cols,
               weight.ref.cols);
  }
  return values;
}

}  // namespace

TEST_CASE("graph_metal_real_wk_matmul") {
  const auto model = default_model();
  const Weight& weight = weight_named(*model, "blk.0.attn_k.weight");
  for (const int64_t tokens : {1, 3, 12}) {
    CAPTURE(tokens);
    OpBench bench(metal_device());
    bench.backend().add_mapping(model->file().part_bytes(0), weight.data.size());
    bench.backend().add_weight(weight);
    const std::vector<float> x = Source(61).normals(weight.ref.cols * tokens);
    const Operand y = bench.result(weight.ref.rows, tokens);
    bench.add(MatMul{weight.ref, {}}, {bench.values(weight.ref.cols, tokens, x)}, y);
    bench.run();
    CHECK(worst_matvec_ratio(decoded(weight), x, bench.read(y), weight.ref.cols, weight.ref.rows) <= 1);
  }
}

// What ctest runs under this name is the program itself, on the fast device. Here its answer begins under the checker:
// fed the recorded tokens, since below the gap between two engines' roundings either token is right.
TEST_CASE("graph_metal_matches_llama_reference" * doctest::skip(checked)) {
  constexpr double least_gap = 0.6;
  constexpr size_t steps = 9;
  std::ifstream file(MINFER_TEST_DATA_DIR "/cli/default_greedy.json");
  const auto recorded = nlohmann::json::parse(file)["cases"][0];
  const auto gaps = recorded["gaps"].get<std::vector<double>>();
  const auto answer = recorded["greedy"].get<std::vector<Token>>();
  auto tokens = recorded["ids"].get<std::vector<Token>>();

  SessionOptions options;
  options.device = std::string(device_kinds().back().name);
  options.n_ctx = 64;
  const auto session = Session::create(default_model(), options);
  size_t compared = 0;
  for (size_t step = 0; step < steps; ++step) {
    const std::span<const float> logits = session->decode(tokens);
    const Token likeliest = Token(std::max_element(logits.begin(), logits.end()) - logits.begin());
    CAPTURE(step);
    if (gaps[step] >= least_gap) {
      CHECK(likeliest == answer[step]);
      ++compared;
    }
    tokens = {answer[step]};
  }
  CHECK(compared > steps / 2);
}

// The published classes: of the answers of two formats, the worst logit within 4 and the likeliest token's
// within 1.
TEST_CASE("real-model packed KV" * doctest::skip(checked)) {  // seconds a token there
  SessionOptions options;
  options.device = std::string(device_kinds().back().name);
  options.n_ctx = 64;
  options.kv_format = KvFormat::f32;
  const auto plain = Session::create(default_model(), options);
  options.kv_format = KvFormat::q8_0;
  const auto packed = Session::create(default_model(), options);
  std::vector<Token> tokens =
      default_model()->tokenizer().encode("The capital of France is Paris, and that of", {});
  for (int step = 0; step < 8; ++step) {
    const std::span<const float> a = plain->decode(tokens), b = packed->decode(tokens);
    const size_t best = size_t(std::max_element(a.begin(), a.end()) - a.begin());
    double worst = 0;
    for (size_t i = 0; i < a.size(); ++i) worst = worse(worst, std::abs(a[i] - b[i]));
    CHECK(worst <= tol::packed_kv_worst);
    CHECK(worst > 0);  // they are two formats
    CHECK(std::abs(a[best] - b[best]) <= tol::packed_kv_likeliest);
    tokens = {Token(best)};
  }
}

}  // namespace minfer::test
