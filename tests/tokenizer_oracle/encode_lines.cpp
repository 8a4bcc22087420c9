// Encodes texts for tokenizer_oracle.py, which compares the ids with those of another library.
//
//   encode_lines VOCABULARY.gguf [PRE]     each line of the input is a JSON string; each line of the output
//   its ids encode_lines --unassigned              ranges of code points that this PCRE2 does not know, two
//   numbers a line
//
// PRE replaces the pre-tokeniser that the file names. Special tokens are parsed, no leading token is added.
#define PCRE2_CODE_UNIT_WIDTH 8
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pcre2.h>
#include <utf8proc.h>

#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "gguf/writer.h"
#include "tokenizer/nfc.h"
#include "tokenizer/pre_tokenizers.h"
#include "tokenizer/splitter.h"
#include "tokenizer/tokenizer.h"

using namespace minfer;

namespace {

std::shared_ptr<const Tokenizer> load(const std::string& path, const std::string& pre) {
  const auto original = gguf::File::open(path);
  if (pre.empty()) return Tokenizer::load(original);
  gguf::Writer writer;
  for (const auto& [key, value] : original->metadata())
    if (key != "tokenizer.ggml.pre") writer.set(key, value);
  writer.set("tokenizer.ggml.pre", pre);
  const auto bytes = std::make_shared<const std::vector<std::byte>>(writer.bytes());
  const auto file = gguf::File::parse(*bytes, path);
  return Tokenizer::load({file.get(), [file, bytes](const gguf::File*) {}});
}

void encode_lines(const Tokenizer& tokenizer) {
  for (std::string line; std::getline(std::cin, line);) {
    const std::string text = nlohmann::json::parse(line);
    const auto ids = tokenizer.encode(text, {.add_bos = false, .parse_special = true});
    std::cout << fmt::format("[{}]\n", fmt::join(ids, ","));
  }
}

void split_lines(const PreTokenizer& pre) {
  std::vector<Splitter> splitters;
  for (const std::string_view pattern : pre.patterns)
    if (!pattern.empty()) splitters.emplace_back(pattern);
  for (std::string line; std::getline(std::cin, line);) {
    const std::string raw = nlohmann::json::parse(line);
    const std::string text = pre.nfc ? nfc(raw) : raw;
    std::vector<std::string_view> words{text}, pieces;
    for (const Splitter& splitter : splitters) {
      pieces.clear();
      for (const std::string_view word : words) splitter.split(word, pieces);
      words.swap(pieces);
    }
    std::vector<size_t> lengths;
    for (const std::string_view word : words) lengths.push_back(word.size());
    std::cout << fmt::format("[{}]\n", fmt::join(lengths, ","));
  }
}

void print_unassigned() {
  int error = 0;
  PCRE2_SIZE offset = 0;
  pcre2_code* code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>("\\p{Cn}"), PCRE2_ZERO_TERMINATED,
                                   PCRE2_UTF | PCRE2_UCP, &error, &offset, nullptr);
  pcre2_match_data* data = pcre2_match_data_create(1, nullptr);
  const auto is_unassigned = [&](int32_t point) {
    const bool surrogate = point >= 0xD800 && point < 0xE000;
    if (surrogate) return false;
    uint8_t utf8[4];
    const auto length = size_t(utf8proc_encode_char(point, utf8));
    return pcre2_match(code, utf8, length, 0, 0, data, nullptr) > 0;
  };
  constexpr int32_t end = 0x110000;
  for (int32_t first = 0; first < end; ++first) {
    if (!is_unassigned(first)) continue;
    int32_t last = first;
    while (last + 1 < end && is_unassigned(last + 1)) ++last;
    std::cout << fmt::format("{} {}\n", first, last);
    first = last;
  }
  pcre2_match_data_free(data);
  pcre2_code_free(code);
}

}  // namespace

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  if (argc == 2 && std::string(argv[1]) == "--unassigned") {
    print_unassigned();
    return 0;
  }
  if (argc == 3 && std::string(argv[1]) == "--split") {
    split_lines(pre_tokenizer(argv[2]));
    return 0;
  }
  if (argc < 2 || argc > 3) {
    std::cerr << "usage: encode_lines VOCABULARY.gguf [PRE] | --split PRE | --unassigned\n";
    return 2;
  }
  encode_lines(*load(argv[1], argc == 3 ? argv[2] : ""));
  return 0;
}
