// The random-weight models that speed is measured on: true shapes, valid blocks, and they run.
#include "random_model.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "base/error.h"
#include "engine/session.h"
#include "quant/quant.h"

using namespace minfer;
namespace fs = std::filesystem;

namespace {

struct TempDir {
  fs::path path;
  TempDir() {
    std::string name = (fs::temp_directory_path() / "minfer-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path = name;
  }
  ~TempDir() { fs::remove_all(path); }
};

std::vector<float> decoded(const gguf::TensorInfo& tensor) {
  std::vector<float> values(size_t(tensor.cols() * tensor.rows()));
  decode_row(tensor.type, tensor.data.data(), values.data(), int64_t(values.size()));
  return values;
}

/// A matrix has the deviation that was asked for. Within 20 %: scales are drawn from 0.65 to 1.3 (their
/// root mean square is 0.99), the smallest matrix here has 192 * 96 values, and the widest blocks 256.
void check_values(const gguf::TensorInfo& tensor, const bench::RandomWeights& weights) {
  CAPTURE(tensor.name);
  const std::vector<float> values = decoded(tensor);
  double sum = 0, squares = 0;
  CHECK(std::ranges::all_of(values, [](float value) { return std::isfinite(value); }));
  for (const float value : values) {
    sum += double(value);
    squares += double(value) * double(value);
  }
  if (tensor.shape.size() < 2) return;
  const double mean = sum / double(values.size()), rms = std::sqrt(squares / double(values.size()));
  CHECK(rms > 0.8 * double(weights.deviation));
  CHECK(rms < 1.2 * double(weights.deviation));
  CHECK(std::fabs(mean) < 0.15 * double(weights.deviation));
}

void check_model(const std::string& path, const bench::ModelShape& shape, const bench::TypePlan& plan) {
  const auto model = Model::load(path);
  const auto planned = bench::plan_tensors(shape, plan, 1);
  const auto file = gguf::File::open(path);
  REQUIRE(file->tensors().size() == planned.size());
  for (size_t i = 0; i < planned.size(); ++i) {
    const gguf::TensorInfo& tensor = file->tensors()[i];
    CHECK(tensor.name == planned[i].name);
    CHECK(tensor.shape == planned[i].shape);
    CHECK(tensor.type == planned[i].weights.type);
    if (planned[i].values.empty()) check_values(tensor, planned[i].weights);
  }
  const auto ids = model->tokenizer().encode("hello world", {});
  REQUIRE(!ids.empty());
  CHECK(model->tokenizer().decode(ids) == "hello world");
  SessionOptions options;
  options.n_ctx = 32;
  options.threads = 1;
  options.device = "cpu";
  const auto session = Session::create(model, options);
  CHECK(int64_t(session->decode(ids).size()) == shape.vocab);  // a number that is not finite is an Error
}

/// Layers whose tensor `part` is of `type`.
std::vector<int> layers_of(const std::vector<bench::RandomTensor>& tensors, std::string_view part,
                           DType type) {
  std::vector<int> layers;
  for (const bench::RandomTensor& tensor : tensors)
    if (tensor.name.ends_with(part) && tensor.weights.type == type)
      layers.push_back(std::atoi(tensor.name.c_str() + 4));
  return layers;
}

}  // namespace

TEST_CASE("tiny models of every kind and type: as planned, with sane values, and they run") {
  const TempDir folder;
  for (const std::string shape_name : {"tiny-llama", "tiny-qwen2", "tiny-qwen3"})
    for (const std::string type :
         {"F32", "F16", "BF16", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q4_K", "Q5_K", "Q6_K", "Q4_K_M"})
      for (const bool pure : {false, true}) {
        CAPTURE(shape_name);
        CAPTURE(type);
        const bench::ModelShape& shape = bench::model_shape(shape_name);
        bench::TypePlan plan = bench::type_plan(type);
        plan.pure = pure;
        const std::string path = folder.path / "model.gguf";
        const gguf::Writer writer = bench::random_model(shape, plan, nullptr, 1);
        writer.write(path);
        check_model(path, shape, plan);
      }
}

TEST_CASE("a streamed file equals the one made in memory, and the seed decides its weights") {
  const TempDir folder;
  const bench::ModelShape& shape = bench::model_shape("tiny-qwen2");
  const bench::TypePlan plan = bench::type_plan("q4_k_m");
  const std::string path = folder.path / "model.gguf";
  const gguf::Writer writer = bench::random_model(shape, plan, nullptr, 1);
  writer.write(path);
  const auto file = gguf::File::open(path);
  CHECK(std::ranges::equal(file->part_bytes(0), writer.bytes()));
  CHECK(bench::random_model(shape, plan, nullptr, 1).bytes() == writer.bytes());
  CHECK(bench::random_model(shape, plan, nullptr, 2).bytes() != writer.bytes());
  CHECK_THROWS_AS(writer.write((folder.path / "no folder" / "model.gguf").string()), Error);
}

TEST_CASE("true shapes have the published numbers of parameters") {
  const std::map<std::string, int64_t> published = {{"Qwen2.5-0.5B", 494'032'768},
                                                    {"Qwen3-0.6B", 596'049'920},
                                                    {"Qwen3-4B", 4'022'468'096},
                                                    {"Llama-3.2-1B", 1'235'814'400},
                                                    {"SmolLM2-135M", 134'515'008}};
  for (const auto& [name, count] : published) {
    CAPTURE(name);
    int64_t total = 0;
    for (const auto& tensor : bench::plan_tensors(bench::model_shape(name), bench::type_plan("F16"), 1)) {
      if (tensor.name == "rope_freqs.weight") continue;  // of the file format, not of the model
      int64_t elements = 1;
      for (const int64_t n : tensor.shape) elements *= n;
      total += elements;
    }
    CHECK(total == count);
  }
}

TEST_CASE("Q4_K_M spreads its types as llama.cpp's quantising program does") {
  // Compared with that program (llama-cpp-python 0.3.16) for these shapes, tensor by tensor.
  const auto smol = bench::plan_tensors(bench::model_shape("SmolLM2-135M"), bench::type_plan("Q4_K_M"), 1);
  const std::vector<int> more = {0, 1, 2, 5, 8, 11, 14, 17, 20, 23, 26, 27, 28, 29};
  CHECK(layers_of(smol, "ffn_down.weight", DType::q6_k) == more);  // 1,536 wide
  CHECK(layers_of(smol, "attn_v.weight", DType::q8_0) == more);    // 576 wide: no Q6_K
  CHECK(layers_of(smol, "attn_q.weight", DType::q5_0).size() == 30);
  CHECK(smol[0].name == "token_embd.weight");
  CHECK(smol[0].weights.type == DType::q8_0);
  const auto qwen = bench::plan_tensors(bench::model_shape("Qwen3-0.6B"), bench::type_plan("Q4_K_M"), 1);
  CHECK(qwen[0].weights.type == DType::q6_k);
  CHECK(layers_of(qwen, "attn_v.weight", DType::q6_k).size() == 14);
}

TEST_CASE("Llama 3's rope factors are the published ones") {
  const auto tensors = bench::plan_tensors(bench::model_shape("Llama-3.2-1B"), bench::type_plan("F16"), 1);
  REQUIRE(tensors.back().name == "rope_freqs.weight");
  const std::vector<float>& factors = tensors.back().values;
  REQUIRE(factors.size() == 32);
  CHECK(factors[14] == 1.0f);
  CHECK(factors[15] == doctest::Approx(1.65133).epsilon(1e-5));
  CHECK(factors[16] == doctest::Approx(3.29226).epsilon(1e-5));
  CHECK(factors[17] == doctest::Approx(9.66673).epsilon(1e-5));
  for (size_t i = 18; i < 32; ++i) CHECK(factors[i] == 32.0f);
}

TEST_CASE("a committed vocabulary is taken over and padded; too large a one is refused") {
  const auto smol = gguf::File::open(MINFER_TEST_DATA_DIR "/tokenizer/smollm2-vocab.gguf");
  const bench::ModelShape wide{"wide", "llama", 1, 64, 2, 1, 32, 64, 49'200, 64, 1e4f, 1e-5f};
  const auto bytes = bench::random_model(wide, bench::type_plan("Q8_0"), smol.get(), 1).bytes();
  const auto file = gguf::File::parse(bytes, "padded");
  const auto tokens = *file->get_strings("tokenizer.ggml.tokens");
  CHECK(tokens.size() == 49'200);
  CHECK(tokens[49'151] == (*smol->get_strings("tokenizer.ggml.tokens"))[49'151]);
  CHECK(tokens[49'152] == "[PAD0]");
  CHECK(file->get_string("tokenizer.chat_template") == smol->get_string("tokenizer.chat_template"));
  CHECK_THROWS_WITH_AS(
      bench::random_model(bench::model_shape("tiny-llama"), bench::type_plan("Q8_0"), smol.get(), 1),
      (smol->path() + ": the vocabulary has 49152 tokens; tiny-llama has 512").c_str(), Error);
  CHECK_THROWS_AS(bench::model_shape("Qwen9"), Error);
  CHECK_THROWS_AS(bench::type_plan("Q3_K"), Error);
}
