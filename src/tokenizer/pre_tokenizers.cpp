#include "tokenizer/pre_tokenizers.h"

#include <fmt/format.h>

#include <string>

#include "base/error.h"

namespace minfer {
namespace {

// clang-format off
// As published in the tokenizer definitions of GPT-2, Qwen2 and Llama 3; one line each.
constexpr std::string_view gpt2  = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
constexpr std::string_view qwen2 = R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view llama = R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view digit = R"(\p{N})";

constexpr PreTokenizer known[] = {
    // name        patterns       nfc    ignore_merges  add_bos
    {"gpt-2",     {gpt2},         false, false,         false},
    {"llama-bpe", {llama},        false, true,          true},
    {"qwen2",     {qwen2},        true,  false,         false},
    {"smollm",    {digit, gpt2},  false, false,         false},
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
