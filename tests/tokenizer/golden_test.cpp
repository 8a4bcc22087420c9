#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tokenizer/nfc.h"
#include "tokenizer/pre_tokenizers.h"
#include "tokenizer/splitter.h"
#include "tokenizer/support.h"

using namespace minfer;
using namespace minfer::test;

namespace {

/// Rows of {text, ids, decoded}, made by the tokenizer a model was published with; without `decoded`, that is
/// the text.
void check_rows(const Tokenizer& tokenizer, const nlohmann::json& rows) {
  REQUIRE(!rows.empty());
  for (const auto& row : rows) {
    const std::string text = row.at("text");
    const std::vector<Token> ids = row.at("ids");
    CAPTURE(text);
    CHECK(ids_of(tokenizer, text) == ids);
    CHECK(tokenizer.decode(ids) == row.value("decoded", text));
  }
}

std::vector<std::string> strings(const gguf::File& file, std::string_view key) {
  const auto views = file.get_strings(key);
  REQUIRE(views);
  return {views->begin(), views->end()};
}

/// The name under which the data has a pre-tokeniser with several.
std::string canonical(std::string_view pre) {
  return std::string(pre == "llama3" || pre == "llama-v3" ? "llama-bpe" : pre);
}

std::vector<size_t> word_lengths(const PreTokenizer& pre, const std::string& raw) {
  const std::string text = pre.nfc ? nfc(raw) : raw;
  std::vector<std::string_view> words, pieces;
  if (!text.empty()) words.push_back(text);
  for (const std::string_view pattern : pre.patterns) {
    if (pattern.empty()) continue;
    pieces.clear();
    const Splitter splitter(pattern);
    for (const std::string_view word : words) splitter.split(word, pieces);
    words.swap(pieces);
  }
  std::vector<size_t> lengths;
  for (const std::string_view word : words) lengths.push_back(word.size());
  return lengths;
}

}  // namespace

TEST_CASE("Qwen3: ids and decoded text of every golden row") {
  check_rows(qwen3(), read_json(data_path("tokenizer_cases.json")).at("qwen3"));
}

TEST_CASE("Llama 3: ids and decoded text of every golden row") {
  const char* folder = std::getenv("MINFER_TEST_DATA");
  if (folder == nullptr) {
    MESSAGE(
        "skipped: MINFER_TEST_DATA names no folder with llama3-vocab.gguf (its licence keeps it out of "
        "here)");
    return;
  }
  const auto tokenizer = load_tokenizer((std::filesystem::path(folder) / "llama3-vocab.gguf").string());
  check_rows(*tokenizer, read_json(data_path("tokenizer_cases.json")).at("llama3"));
  CHECK(ids_of(*tokenizer, "1234567890") == std::vector<Token>{4513, 10961, 16474, 15});
  CHECK(ids_of(*tokenizer, "2024-12-31") == std::vector<Token>{2366, 19, 12, 717, 12, 2148});
  CHECK(ids_of(*tokenizer, "3.14159") == std::vector<Token>{18, 13, 9335, 2946});
  CHECK(tokenizer->encode("a", {}) == std::vector<Token>{128000, 64});
}

TEST_CASE("every pre-tokeniser over SmolLM2's vocabulary: ids and decoded text of every golden row") {
  const auto cases = read_json(data_path("smollm_cases.json"));
  const auto file = gguf::File::open(data_path("smollm2-vocab.gguf"));
  check_rows(*Tokenizer::load(file), cases.at("smollm"));
  for (const PreTokenizer& known : pre_tokenizers()) {
    const std::string pre(known.name);
    CAPTURE(pre);
    MetadataFile same_words;
    same_words.values["tokenizer.ggml.model"] = std::string("gpt2");
    same_words.values["tokenizer.ggml.pre"] = pre;
    same_words.values["tokenizer.ggml.tokens"] = strings(*file, "tokenizer.ggml.tokens");
    same_words.values["tokenizer.ggml.merges"] = strings(*file, "tokenizer.ggml.merges");
    same_words.values["tokenizer.ggml.bos_token_id"] = int32_t(1);
    const auto types = file->get_ints("tokenizer.ggml.token_type");
    REQUIRE(types);
    same_words.values["tokenizer.ggml.token_type"] = std::vector<int32_t>(types->begin(), types->end());
    check_rows(*Tokenizer::load(same_words.open()), cases.at(canonical(pre)));
  }
}

TEST_CASE("every pre-tokeniser cuts texts into the words that the tokenizers library finds") {
  const auto cases = read_json(data_path("word_cases.json"));
  const auto texts = cases.at("texts").get<std::vector<std::string>>();
  REQUIRE(texts.size() > 150);
  for (const PreTokenizer& pre : pre_tokenizers()) {
    CAPTURE(pre.name);
    const auto& rows = cases.at(canonical(pre.name));
    for (size_t i = 0; i < texts.size(); ++i) {
      CAPTURE(texts[i]);
      CHECK(word_lengths(pre, texts[i]) == rows[i].get<std::vector<size_t>>());
    }
  }
}

TEST_CASE("Qwen3: symbol runs, single digits and white space of every kind") {
  const std::pair<std::string_view, std::vector<Token>> rows[] = {
      {"->", {405}},
      {"(x):\n", {2075, 982}},
      {"2024-12-31", {17, 15, 17, 19, 12, 16, 17, 12, 18, 16}},
      {"1234567890", {16, 17, 18, 19, 20, 21, 22, 23, 24, 15}},
      {"\t\tif(x){\r\n\r\n}", {197, 743, 2075, 58219, 92}},
      {"x  \n\n  y", {87, 18611, 220, 379}},
      {"a\u00a0b\u3000c", {64, 4102, 65, 22441, 66}},
      {"I\u2019LL we'RE", {40, 527, 4086, 582, 94153}},
      {" 那明天呢?", {18137, 224, 96, 104807, 101036, 30}},
      {"<think>\n\n</think>\n\n", {151667, 271, 151668, 271}},
  };
  for (const auto& [text, ids] : rows) {
    CAPTURE(text);
    CHECK(ids_of(qwen3(), text) == ids);
  }
}
