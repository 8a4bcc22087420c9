#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <vector>

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

constexpr const char* usage = R"(make_model SHAPE TYPE FILE [--vocab FILE] [--pure] [--seed NUMBER]

Writes a GGUF file with the shapes of a published model and random weights.

  SHAPE           Qwen2.5-0.5B, Qwen3-0.6B, Qwen3-4B, Llama-3.2-1B or SmolLM2-135M
  TYPE            Q4_K_M, or one weight type: F32, F16, BF16, Q4_0, ... Q6_K
  FILE            where to write
  --vocab FILE    take vocabulary and chat template from this GGUF file
  --pure          the embedding in TYPE too, not in Q6_K or Q8_0
  --seed NUMBER   of the random weights, 1 unless given
)";

bool parse_number(const std::string& text, uint64_t& number) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stop == end;
}

/// Nothing if the words do not fit `usage`.
std::optional<Arguments> parse(const std::vector<std::string>& words) {
  Arguments arguments;
  std::vector<std::string> places;
  for (size_t i = 0; i < words.size(); ++i) {
    const bool has_value = words[i] == "--vocab" || words[i] == "--seed";
    if (has_value && i + 1 == words.size()) return std::nullopt;
    if (words[i] == "--vocab") {
      arguments.vocabulary = words[++i];
    } else if (words[i] == "--seed") {
      if (!parse_number(words[++i], arguments.seed)) return std::nullopt;
    } else if (words[i] == "--pure") {
      arguments.pure = true;
    } else if (words[i].starts_with("-")) {
      return std::nullopt;
    } else {
      places.push_back(words[i]);
    }
  }
  if (places.size() != 3) return std::nullopt;
  arguments.shape = places[0], arguments.type = places[1], arguments.path = places[2];
  return arguments;
}

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
  const auto arguments = parse(std::vector<std::string>(argv + 1, argv + argc));
  if (!arguments) {
    fmt::print(stderr, "{}", usage);
    return 2;
  }
  try {
    make_model(*arguments);
    return 0;
  } catch (const Error& error) {
    fmt::print(stderr, "make_model: {}\n", error.what());
    return 1;
  }
}
