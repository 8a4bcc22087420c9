#include "random_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>
#include <numbers>

#include "base/error.h"
#include "tokenizer/byte_level.h"

namespace minfer::bench {
namespace {

// clang-format off
// As published in each model's configuration.
constexpr ModelShape shapes[] = {
    // name           architecture layers  dim heads kv head_dim  ffn   vocab  context   rope    eps
    {"Qwen2.5-0.5B",  "qwen2",     24,     896, 14,  2,  64,     4864, 151936,  32768,   1e6f,   1e-6f},
    {"Qwen3-0.6B",    "qwen3",     28,    1024, 16,  8, 128,     3072, 151936,  40960,   1e6f,   1e-6f},
    {"Qwen3-4B",      "qwen3",     36,    2560, 32,  8, 128,     9728, 151936,  40960,   1e6f,   1e-6f},
    {"Llama-3.2-1B",  "llama",     16,    2048, 32,  8,  64,     8192, 128256, 131072,   5e5f,   1e-5f, true},
    {"SmolLM2-135M",  "llama",     30,     576,  9,  3,  64,     1536,  49152,   8192,   1e5f,   1e-5f},
    // For tests: every kind of tensor in under a megabyte. The second has rows that are no multiple of 256.
    {"tiny-llama",    "llama",      2,     256,  4,  2,  64,      512,    512,    256,   1e4f,   1e-5f, true},
    {"tiny-qwen2",    "qwen2",      9,     192,  4,  2,  48,      224,    512,    256,   1e4f,   1e-6f},
    {"tiny-qwen3",    "qwen3",      2,     256,  2,  1,  64,      256,    512,    256,   1e4f,   1e-6f},
};
// clang-format on

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](unsigned char x, unsigned char y) { return tolower(x) == tolower(y); });
}

/// What stands for a type in rows that hold no whole number of its blocks.
DType fitting(DType type, int64_t cols) {
  if (cols % info(type).block_elements == 0) return type;
  switch (type) {
    case DType::q4_k:
      return DType::q5_0;
    case DType::q5_k:
      return DType::q5_1;
    case DType::q6_k:
      return DType::q8_0;
    default:
      return DType::f16;
  }
}

/// The layers that Q4_K_M gives more bits: the first and last eighth, and every third between them.
bool has_more_bits(int64_t layer, int64_t layers) {
  return layer < layers / 8 || layer >= 7 * layers / 8 || (layer - layers / 8) % 3 == 2;
}

/// Llama 3's stretching of the slow rotations: for a context of 32 times the 8,192 that it was trained on.
std::vector<float> llama3_rope_factors(const ModelShape& shape) {
  constexpr double factor = 32, low = 1, high = 4, trained = 8192;
  std::vector<float> factors;
  for (int64_t i = 0; i < shape.head_dim / 2; ++i) {
    const double turns = trained / (2 * std::numbers::pi *
                                    std::pow(shape.rope_base, 2.0 * double(i) / double(shape.head_dim)));
    const double blend = std::clamp((turns - low) / (high - low), 0.0, 1.0);
    factors.push_back(float(1 / ((1 - blend) / factor + blend)));
  }
  return factors;
}

class Planner {
 public:
  Planner(const ModelShape& shape, const TypePlan& plan, uint64_t seed)
      : shape_(shape), plan_(plan), seed_(seed) {}

  void matrix(std::string name, int64_t cols, int64_t rows, DType type, float deviation) {
    add(std::move(name), {cols, rows}, fitting(type, cols), 0, deviation);
  }
  void vector(std::string name, int64_t size, float mean, float deviation) {
    add(std::move(name), {size}, DType::f32, mean, deviation);
  }
  void constants(std::string name, std::vector<float> values) {
    vector(std::move(name), int64_t(values.size()), 0, 0);
    tensors_.back().values = std::move(values);
  }
  void embedding();
  void layer(int64_t index);
  std::vector<RandomTensor> take() { return std::move(tensors_); }

 private:
  void add(std::string name, std::vector<int64_t> shape, DType type, float mean, float deviation) {
    tensors_.push_back({std::move(name),
                        std::move(shape),
                        {.type = type, .mean = mean, .deviation = deviation, .seed = seed_ + tensors_.size()},
                        {}});
  }

  const ModelShape& shape_;
  const TypePlan& plan_;
  uint64_t seed_;
  std::vector<RandomTensor> tensors_;
};

void Planner::embedding() {
  DType type = plan_.type;
  if (is_quantised(type) && type != DType::q8_0 && !plan_.pure) type = DType::q6_k;
  matrix("token_embd.weight", shape_.dim, shape_.vocab, type, 0.02f);
}

void Planner::layer(int64_t index) {
  const auto name = [&](std::string_view part) { return fmt::format("blk.{}.{}", index, part); };
  const int64_t dim = shape_.dim, q_dim = shape_.heads * shape_.head_dim;
  const int64_t kv_dim = shape_.kv_heads * shape_.head_dim;
  const float in = 1 / std::sqrt(float(dim));                      // keeps the size of a normalised input
  const float residual = 1 / std::sqrt(2 * float(shape_.layers));  // and what all layers add up to near one
  const DType more = plan_.mix && has_more_bits(index, shape_.layers) ? DType::q6_k : plan_.type;
  vector(name("attn_norm.weight"), dim, 1, 0.05f);
  matrix(name("attn_q.weight"), dim, q_dim, plan_.type, in);
  matrix(name("attn_k.weight"), dim, kv_dim, plan_.type, in);
  matrix(name("attn_v.weight"), dim, kv_dim, more, in);
  matrix(name("attn_output.weight"), q_dim, dim, plan_.type, residual / std::sqrt(float(q_dim)));
  if (shape_.architecture == "qwen2") {
    vector(name("attn_q.bias"), q_dim, 0, 0.1f);
    vector(name("attn_k.bias"), kv_dim, 0, 0.1f);
    vector(name("attn_v.bias"), kv_dim, 0, 0.1f);
  }
  if (shape_.architecture == "qwen3") {
    vector(name("attn_q_norm.weight"), shape_.head_dim, 1, 0.05f);
    vector(name("attn_k_norm.weight"), shape_.head_dim, 1, 0.05f);
  }
  vector(name("ffn_norm.weight"), dim, 1, 0.05f);
  matrix(name("ffn_gate.weight"), dim, shape_.ffn_dim, plan_.type, in);
  matrix(name("ffn_up.weight"), dim, shape_.ffn_dim, plan_.type, in);
  matrix(name("ffn_down.weight"), shape_.ffn_dim, dim, more, residual / std::sqrt(float(shape_.ffn_dim)));
}

void set_hyperparameters(const ModelShape& shape, const TypePlan& plan, gguf::Writer& writer) {
  const std::string prefix(shape.architecture);
  const auto number = [&](std::string_view key, int64_t value) {
    writer.set(fmt::format("{}.{}", prefix, key), uint32_t(value));
  };
  writer.set("general.architecture", shape.architecture);
  writer.set("general.type", "model");
  writer.set("general.name",
             fmt::format("{} {}, random weights", shape.name, plan.mix ? "Q4_K_M" : info(plan.type).name));
  writer.set("general.quantization_version", uint32_t(2));
  number("block_count", shape.layers);
  number("context_length", shape.context);
  number("embedding_length", shape.dim);
  number("feed_forward_length", shape.ffn_dim);
  number("attention.head_count", shape.heads);
  number("attention.head_count_kv", shape.kv_heads);
  number("attention.key_length", shape.head_dim);
  number("attention.value_length", shape.head_dim);
  number("rope.dimension_count", shape.head_dim);
  number("vocab_size", shape.vocab);
  writer.set(prefix + ".rope.freq_base", shape.rope_base);
  writer.set(prefix + ".attention.layer_norm_rms_epsilon", shape.norm_eps);
}

/// A vocabulary with room to grow.
struct Words {
  std::vector<std::string> texts, merges;
  std::vector<int32_t> types;
  void add(std::string text, int32_t type) {
    texts.push_back(std::move(text));
    types.push_back(type);
  }
  void pad(int64_t size) {
    for (int i = 0; int64_t(texts.size()) < size; ++i) add(fmt::format("[PAD{}]", i), unused);
  }
  static constexpr int32_t normal = 1, control = 3, unused = 5;
};

/// The bytes, then words of letters by length, each made of one shorter by a letter, then an end token.
void set_made_up_vocabulary(const ModelShape& shape, gguf::Writer& writer) {
  Words words;
  for (int byte = 0; byte < 256; ++byte)
    words.add(std::string(byte_level::stand_in(uint8_t(byte))), Words::normal);
  std::vector<std::string> shorter;
  for (char c = 'a'; c <= 'z'; ++c) shorter.emplace_back(1, c);
  const size_t last = size_t(shape.vocab) - 1;
  while (words.texts.size() < last) {
    std::vector<std::string> longer;
    for (const std::string& word : shorter)
      for (char c = 'a'; c <= 'z' && words.texts.size() < last; ++c) {
        words.add(word + c, Words::normal);
        words.merges.push_back(fmt::format("{} {}", word, c));
        longer.push_back(word + c);
      }
    shorter = std::move(longer);
  }
  words.add("<|endoftext|>", Words::control);
  writer.set("tokenizer.ggml.model", "gpt2");
  writer.set("tokenizer.ggml.pre", "gpt-2");
  writer.set("tokenizer.ggml.tokens", words.texts);
  writer.set("tokenizer.ggml.token_type", words.types);
  writer.set("tokenizer.ggml.merges", words.merges);
  writer.set("tokenizer.ggml.bos_token_id", uint32_t(last));
  writer.set("tokenizer.ggml.eos_token_id", uint32_t(last));
  writer.set("tokenizer.ggml.add_bos_token", false);
}

void copy_vocabulary(const gguf::File& file, const ModelShape& shape, gguf::Writer& writer) {
  const auto texts = file.get_strings("tokenizer.ggml.tokens");
  const auto types = file.get_ints("tokenizer.ggml.token_type");
  if (!texts || !types || texts->size() != types->size())
    throw Error(
        ErrorCode::bad_request,
        fmt::format("{}: tokenizer.ggml.tokens and token_type are expected, of one length", file.path()));
  if (int64_t(texts->size()) > shape.vocab)
    throw Error(ErrorCode::bad_request, fmt::format("{}: the vocabulary has {} tokens; {} has {}",
                                                    file.path(), texts->size(), shape.name, shape.vocab));
  if (file.find("tokenizer.ggml.scores"))
    throw Error(ErrorCode::bad_request,
                fmt::format("{}: a SentencePiece vocabulary; a byte-level BPE one is expected", file.path()));
  Words words;
  for (size_t i = 0; i < texts->size(); ++i) words.add(std::string((*texts)[i]), int32_t((*types)[i]));
  words.pad(shape.vocab);
  for (const auto& [key, value] : file.metadata())
    if (key.starts_with("tokenizer.") && key != "tokenizer.ggml.tokens" && key != "tokenizer.ggml.token_type")
      writer.set(key, value);
  writer.set("tokenizer.ggml.tokens", words.texts);
  writer.set("tokenizer.ggml.token_type", words.types);
}

}  // namespace

std::span<const ModelShape> model_shapes() { return shapes; }

const ModelShape& model_shape(std::string_view name) {
  std::string names;
  for (const ModelShape& shape : shapes) {
    if (equal_ignoring_case(shape.name, name)) return shape;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", shape.name);
  }
  throw Error(ErrorCode::bad_request, fmt::format("unknown model shape \"{}\"; known are {}", name, names));
}

TypePlan type_plan(std::string_view name) {
  if (equal_ignoring_case(name, "Q4_K_M")) return {.type = DType::q4_k, .mix = true};
  std::string names = "Q4_K_M";
  for (int i = 0; i < int(DType::i32); ++i) {
    const std::string_view known = info(DType(i)).name;
    if (equal_ignoring_case(name, known)) return {.type = DType(i)};
    names += fmt::format(", {}", known);
  }
  throw Error(ErrorCode::bad_request, fmt::format("unknown weight type \"{}\"; known are {}", name, names));
}

std::vector<RandomTensor> plan_tensors(const ModelShape& shape, const TypePlan& plan, uint64_t seed) {
  Planner planner(shape, plan, seed);
  planner.embedding();
  for (int64_t i = 0; i < shape.layers; ++i) planner.layer(i);
  planner.vector("output_norm.weight", shape.dim, 1, 0.05f);
  if (shape.llama3_rope) planner.constants("rope_freqs.weight", llama3_rope_factors(shape));
  return planner.take();
}

gguf::Writer random_model(const ModelShape& shape, const TypePlan& plan, const gguf::File* vocabulary,
                          uint64_t seed) {
  gguf::Writer writer;
  set_hyperparameters(shape, plan, writer);
  if (vocabulary != nullptr)
    copy_vocabulary(*vocabulary, shape, writer);
  else
    set_made_up_vocabulary(shape, writer);
  for (RandomTensor& tensor : plan_tensors(shape, plan, seed)) {
    if (!tensor.values.empty()) {
      writer.add_tensor(tensor.name, DType::f32, tensor.shape, std::as_bytes(std::span(tensor.values)));
      continue;
    }
    writer.add_tensor(tensor.name, tensor.weights.type, tensor.shape,
                      [weights = tensor.weights](uint64_t first_block, std::span<std::byte> out) {
                        fill_random(weights, first_block, out);
                      });
  }
  return writer;
}

}  // namespace minfer::bench
