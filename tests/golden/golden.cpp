#include "golden/golden.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "tolerance.h"

namespace minfer::golden {

const std::vector<Reference>& references() {
  static const std::vector<Reference> all = {
      {"qwen2-f32", tol::logits_float},       {"qwen2-untied-f16", tol::logits_float},
      {"qwen2-q4_0", tol::logits_quant},      {"qwen2-q5_1", tol::logits_quant},
      {"qwen2-q5_k", tol::logits_quant_k},    {"qwen2-mixed-k", tol::logits_quant_k},
      {"qwen3-f16", tol::logits_float},       {"qwen3-bf16", tol::logits_float},
      {"qwen3-q5_0", tol::logits_quant},      {"qwen3-q8_0", tol::logits_quant},
      {"qwen3-q4_k", tol::logits_quant_k},    {"llama-f16", tol::logits_float},
      {"llama-q4_1", tol::logits_quant},      {"llama-q6_k", tol::logits_quant_k},
      {"llama3rope-bf16", tol::logits_float},
  };
  return all;
}

namespace {
std::string path(const std::string& file) { return std::string(MINFER_TEST_DATA_DIR) + "/golden/" + file; }
}  // namespace

std::vector<Case> cases(const std::string& name) {
  const auto json = nlohmann::json::parse(std::ifstream(path(name + ".json")));
  std::vector<Case> all;
  for (const auto& c : json.at("cases"))
    all.push_back({c.at("prompt"), c.at("last_logits"), c.at("argmax_per_position"), c.at("max_abs_logit"),
                   c.at("mean_nll"), c.at("greedy"), c.at("greedy_gap")});
  return all;
}

std::shared_ptr<const Model> model(const std::string& name) {
  static std::map<std::string, std::shared_ptr<const Model>> loaded;
  auto& entry = loaded[name];
  if (!entry) entry = Model::load(path(name + ".gguf"));
  return entry;
}

SessionOptions options() {
  SessionOptions o;
  o.n_ctx = 1024;
  o.kv_format = KvFormat::f32;
  o.threads = 2;
  o.device = "cpu";
  return o;
}

std::unique_ptr<Session> session(const std::string& name, const SessionOptions& with) {
  return Session::create(model(name), with);
}

std::vector<float> all_logits(Session& session, const std::vector<Token>& tokens, size_t step) {
  std::vector<float> all;
  const auto append = [&](int64_t, std::span<const float> row) {
    all.insert(all.end(), row.begin(), row.end());
  };
  if (step == 0) step = tokens.size();
  for (size_t at = 0; at < tokens.size(); at += step)
    session.decode_all(std::span(tokens).subspan(at, std::min(step, tokens.size() - at)), append);
  return all;
}

Top top(std::span<const float> row) {
  size_t best = 0;
  for (size_t i = 1; i < row.size(); ++i)
    if (row[i] > row[best]) best = i;
  double second = -INFINITY;
  for (size_t i = 0; i < row.size(); ++i)
    if (i != best) second = std::max(second, double(row[i]));
  return {Token(best), double(row[best]) - second};
}

}  // namespace minfer::golden
