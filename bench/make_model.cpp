#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>

#include "base/error.h"
#include "random_model.h"

/// Writes a GGUF file with the shapes of a published model and random weights.
///
///   make_model Qwen3-0.6B Q4_K_M model.gguf --vocab tests/data/tokenizer/qwen3-vocab.gguf
///
/// Other engines load it too. Its text is nonsense; its speed is that of the real model.
using namespace minfer;

namespace {

struct Arguments {
  std::string shape, type, path, vocabulary;
  bool pure = false;
  uint64_t seed = 1;
};

void make_model(const Arguments& arguments) {
  const bench::ModelShape& shape = bench::model_shape(arguments.shape);
  bench::TypePlan plan = bench::type_plan(arguments.type);
  plan.pure = arguments.pure;
  std::shared_ptr<const gguf::File> vocabulary;
  if (!arguments.vocabulary.empty()) vocabulary = gguf::File::open(arguments.vocabulary);
  bench::random_model(shape, plan, vocabulary.get(), arguments.seed).write(arguments.path);
  fmt::print("{}: {} {}, {:.1f} MB\n", arguments.path, shape.name, arguments.type,
             double(std::filesystem::file_size(arguments.path)) / 1e6);
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("Writes a GGUF file with the shapes of a published model and random weights.", "make_model");
  app.add_option("SHAPE", arguments.shape, "Qwen2.5-0.5B, Qwen3-0.6B, Qwen3-4B, Llama-3.2-1B or SmolLM2-135M")
      ->required();
  app.add_option("TYPE", arguments.type, "Q4_K_M, or one weight type: F32, F16, BF16, Q4_0, ... Q6_K")
      ->required();
  app.add_option("FILE", arguments.path, "Where to write")->required();
  app.add_option("--vocab", arguments.vocabulary, "Take vocabulary and chat template from this GGUF file");
  app.add_flag("--pure", arguments.pure, "The embedding in TYPE too, not in Q6_K or Q8_0");
  app.add_option("--seed", arguments.seed, "Of the random weights")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    make_model(arguments);
    return 0;
  } catch (const Error& error) {
    fmt::print(stderr, "make_model: {}\n", error.what());
    return 1;
  }
}
