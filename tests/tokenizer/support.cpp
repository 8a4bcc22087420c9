#include "tokenizer/support.h"

#include <cstring>
#include <fstream>
#include <stdexcept>

#include "tokenizer/byte_level.h"

namespace minfer::test {
namespace {

class Writer {
 public:
  template <class T>
  void number(T value) {
    const auto* first = reinterpret_cast<const std::byte*>(&value);
    bytes.insert(bytes.end(), first, first + sizeof value);
  }
  void string(const std::string& text) {
    number(uint64_t(text.size()));
    const auto* first = reinterpret_cast<const std::byte*>(text.data());
    bytes.insert(bytes.end(), first, first + text.size());
  }
  void type(gguf::ValueType type) { number(uint32_t(type)); }

  void value(bool flag) {
    type(gguf::ValueType::boolean);
    number(uint8_t(flag));
  }
  void value(int32_t n) {
    type(gguf::ValueType::i32);
    number(n);
  }
  void value(const std::string& text) {
    type(gguf::ValueType::string);
    string(text);
  }
  void value(const std::vector<std::string>& texts) {
    type(gguf::ValueType::array);
    type(gguf::ValueType::string);
    number(uint64_t(texts.size()));
    for (const std::string& text : texts) string(text);
  }
  void value(const std::vector<int32_t>& numbers) {
    type(gguf::ValueType::array);
    type(gguf::ValueType::i32);
    number(uint64_t(numbers.size()));
    for (const int32_t n : numbers) number(n);
  }
  std::vector<std::byte> bytes;
};

}  // namespace

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

std::shared_ptr<const gguf::File> MetadataFile::open() const {
  Writer writer;
  for (const char c : {'G', 'G', 'U', 'F'}) writer.number(c);
  writer.number(uint32_t(3));  // version
  writer.number(uint64_t(0));  // tensors
  writer.number(uint64_t(values.size()));
  for (const auto& [key, value] : values) {
    writer.string(key);
    std::visit([&](const auto& v) { writer.value(v); }, value);
  }
  const auto bytes = std::make_shared<const std::vector<std::byte>>(std::move(writer.bytes));
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
