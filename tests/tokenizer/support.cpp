#include "tokenizer/support.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "gguf/writer.h"
#include "tokenizer/byte_level.h"

namespace minfer::test {
std::string data_path(const std::string& name) {
  return std::string(MINFER_TEST_DATA_DIR) + "/tokenizer/" + name;
}

nlohmann::json read_json(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  return nlohmann::json::parse(file);
}

std::shared_ptr<const Tokenizer> load_tokenizer(const std::string& path) {
  return Tokenizer::load(gguf::File::open(path));
}

const Tokenizer& qwen3() {
  static const auto tokenizer = load_tokenizer(data_path("qwen3-vocab.gguf"));
  return *tokenizer;
}

const Tokenizer& mistral() {
  static const auto tokenizer = load_tokenizer(data_path("mistral-spm-vocab.gguf"));
  return *tokenizer;
}

std::shared_ptr<const gguf::File> MetadataFile::open() const {
  gguf::Writer writer;
  for (const auto& [key, value] : values) std::visit([&](const auto& v) { writer.set(key, v); }, value);
  const auto bytes = std::make_shared<const std::vector<std::byte>>(writer.bytes());
  const auto file = gguf::File::parse(*bytes, "test vocabulary");
  return {file.get(), [file, bytes](const gguf::File*) {}};
}

MetadataFile byte_vocabulary(const std::vector<std::string>& words, const std::vector<std::string>& merges) {
  std::vector<std::string> tokens;
  for (int byte = 0; byte < 256; ++byte) tokens.emplace_back(byte_level::stand_in(uint8_t(byte)));
  tokens.insert(tokens.end(), words.begin(), words.end());
  MetadataFile file;
  file.values["general.architecture"] = std::string("llama");
  file.values["tokenizer.ggml.model"] = std::string("gpt2");
  file.values["tokenizer.ggml.pre"] = std::string("gpt-2");
  file.values["tokenizer.ggml.token_type"] = std::vector<int32_t>(tokens.size(), 1);
  file.values["tokenizer.ggml.tokens"] = std::move(tokens);
  file.values["tokenizer.ggml.merges"] = merges;
  return file;
}

std::vector<Token> ids_of(const Tokenizer& tokenizer, std::string_view text) {
  return tokenizer.encode(text, {.add_bos = false, .parse_special = true});
}

}  // namespace minfer::test
