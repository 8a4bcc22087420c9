// Any text, under every pre-tokeniser: encode gives tokens that stand for the text, byte for byte where the
// text is not normalised, and streaming them gives what decoding them gives.
#include "tokenizer/tokenizer.h"

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "gguf/writer.h"
#include "tokenizer/byte_level.h"
#include "tokenizer/pre_tokenizers.h"

using namespace minfer;

namespace {

/// The 256 bytes, a few merges of letters, spaces and pieces of characters, and special tokens.
std::shared_ptr<const Tokenizer> make(std::string_view pre) {
  std::vector<std::string> tokens, merges;
  for (int byte = 0; byte < 256; ++byte) tokens.emplace_back(byte_level::stand_in(uint8_t(byte)));
  for (const auto& [left, right] : {std::pair{"a", "b"},
                                    {"ab", "a"},
                                    {"Ġ", "Ġ"},
                                    {"ĠĠ", "ĠĠ"},
                                    {"Ã", "©"},
                                    {"âĤ", "¬"},
                                    {"â", "Ĥ"},
                                    {"1", "2"},
                                    {"Ċ", "Ċ"}}) {
    merges.push_back(std::string(left) + " " + right);
    tokens.push_back(std::string(left) + right);
  }
  std::vector<int32_t> types(tokens.size(), 1);
  for (const auto& [text, type] :
       {std::pair{"<|im_start|>", 3}, {"<|im_end|>", 3}, {"<think>", 4}, {"<|", 3}}) {
    tokens.emplace_back(text);
    types.push_back(type);
  }
  gguf::Writer writer;
  writer.set("tokenizer.ggml.model", "gpt2");
  writer.set("tokenizer.ggml.pre", pre);
  writer.set("tokenizer.ggml.tokens", tokens);
  writer.set("tokenizer.ggml.token_type", types);
  writer.set("tokenizer.ggml.merges", merges);
  writer.set("tokenizer.ggml.add_bos_token", false);
  const auto bytes = std::make_shared<const std::vector<std::byte>>(writer.bytes());
  const auto file = gguf::File::parse(*bytes, "vocabulary");
  return Tokenizer::load({file.get(), [file, bytes](const gguf::File*) {}});
}

void require(bool condition) {
  if (!condition) std::abort();
}

void check(const Tokenizer& tokenizer, bool normalises, std::string_view text, bool parse_special) {
  const std::vector<Token> ids = tokenizer.encode(text, {.add_bos = true, .parse_special = parse_special});
  std::string bytes, streamed;
  StreamDecoder stream(tokenizer, true);
  for (const Token id : ids) {
    bytes += tokenizer.token_bytes(id, true);
    streamed += stream.push(id);
    require(parse_special || !tokenizer.is_control(id));
  }
  streamed += stream.finish();
  require(normalises || bytes == text);
  require(streamed == tokenizer.decode(ids));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto tokenizers = [] {
    std::vector<std::shared_ptr<const Tokenizer>> all;
    for (const PreTokenizer& pre : pre_tokenizers()) all.push_back(make(pre.name));
    return all;
  }();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (size_t i = 0; i < tokenizers.size(); ++i)
    for (const bool parse_special : {true, false})
      check(*tokenizers[i], pre_tokenizers()[i].nfc, text, parse_special);
  return 0;
}
