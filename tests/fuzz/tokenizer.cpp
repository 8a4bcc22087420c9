// Any text, under every pre-tokeniser and several SentencePiece vocabularies: encode gives tokens that stand
// for the text, byte for byte where the text is not normalised, and streaming them gives what decoding them
// gives.
#include "tokenizer/tokenizer.h"

#include <fmt/format.h>

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

enum : int32_t { normal = 1, unknown, control, user_defined, unused, byte };

/// A tokenizer and what is known of the bytes it gives back.
struct Subject {
  std::shared_ptr<const Tokenizer> tokenizer;
  enum { same, with_space_marks, other } bytes;
};

struct Vocabulary {
  std::vector<std::string> texts;
  std::vector<float> scores;
  std::vector<int32_t> types;
  void add(std::string text, int32_t type, float score = 0) {
    texts.push_back(std::move(text));
    types.push_back(type);
    scores.push_back(score);
  }
  void set(gguf::Writer& writer) const {
    writer.set("tokenizer.ggml.tokens", texts);
    writer.set("tokenizer.ggml.token_type", types);
    writer.set("tokenizer.ggml.add_bos_token", false);
  }
};

std::shared_ptr<const Tokenizer> load(const gguf::Writer& writer) {
  const auto bytes = std::make_shared<const std::vector<std::byte>>(writer.bytes());
  const auto file = gguf::File::parse(*bytes, "vocabulary");
  return Tokenizer::load({file.get(), [file, bytes](const gguf::File*) {}});
}

/// The 256 bytes, a few merges of letters, spaces and pieces of characters, and special tokens.
Subject byte_level_bpe(const PreTokenizer& pre) {
  Vocabulary words;
  std::vector<std::string> merges;
  for (int b = 0; b < 256; ++b) words.add(std::string(byte_level::stand_in(uint8_t(b))), normal);
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
    words.add(std::string(left) + right, normal);
  }
  for (const auto& [text, type] : {std::pair{"<|im_start|>", control},
                                   {"<|im_end|>", control},
                                   {"<think>", user_defined},
                                   {"<|", control}})
    words.add(text, type);
  gguf::Writer writer;
  writer.set("tokenizer.ggml.model", "gpt2");
  writer.set("tokenizer.ggml.pre", pre.name);
  words.set(writer);
  writer.set("tokenizer.ggml.merges", merges);
  return {load(writer), pre.nfc ? Subject::other : Subject::same};
}

/// A few letters and what they make, equal scores and unused pieces among them, and special tokens.
Subject sentence_piece(bool bytes, bool space_prefix) {
  Vocabulary pieces;
  pieces.add("<unk>", unknown);
  pieces.add("<s>", control);
  pieces.add("</s>", control);
  pieces.add("<think>", user_defined);
  if (bytes)
    for (int b = 0; b < 256; ++b) pieces.add(fmt::format("<0x{:02X}>", b), byte);
  for (const char* text : {"a", "b", "1", "\n", "é", "€", "\u2581"}) pieces.add(text, normal, -9);
  for (const char* text : {"ab", "ba", "\u2581a", "\u2581\u2581", "\n\n", "é€"}) pieces.add(text, normal, -3);
  for (const char* text : {"aba", "bab", "\u2581\u2581\u2581"}) pieces.add(text, unused, -1);
  for (const char* text : {"ababa", "\u2581\u2581\u2581\u2581"}) pieces.add(text, normal, -2);
  gguf::Writer writer;
  writer.set("tokenizer.ggml.model", "llama");
  writer.set("tokenizer.ggml.add_space_prefix", space_prefix);
  pieces.set(writer);
  writer.set("tokenizer.ggml.scores", pieces.scores);
  return {load(writer), bytes && !space_prefix ? Subject::with_space_marks : Subject::other};
}

void require(bool condition) {
  if (!condition) std::abort();
}

/// A text in which U+2581 stands for a space.
std::string without_marks(std::string_view text) {
  constexpr std::string_view mark = "\u2581";
  std::string out;
  while (!text.empty()) {
    const bool is_mark = text.starts_with(mark);
    out += is_mark ? ' ' : text.front();
    text.remove_prefix(is_mark ? mark.size() : 1);
  }
  return out;
}

void check(const Subject& subject, std::string_view text, bool parse_special) {
  const Tokenizer& tokenizer = *subject.tokenizer;
  const std::vector<Token> ids = tokenizer.encode(text, {.add_bos = true, .parse_special = parse_special});
  std::string bytes, streamed;
  StreamDecoder stream(tokenizer, true);
  for (const Token id : ids) {
    bytes += tokenizer.token_bytes(id, true);
    streamed += stream.push(id);
    require(parse_special || !tokenizer.is_control(id));
  }
  streamed += stream.finish();
  if (subject.bytes == Subject::same) require(bytes == text);
  if (subject.bytes == Subject::with_space_marks) require(bytes == without_marks(text));
  require(streamed == tokenizer.decode(ids));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto subjects = [] {
    std::vector<Subject> all;
    for (const PreTokenizer& pre : pre_tokenizers()) all.push_back(byte_level_bpe(pre));
    for (const bool bytes : {true, false})
      for (const bool space_prefix : {true, false}) all.push_back(sentence_piece(bytes, space_prefix));
    return all;
  }();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const Subject& subject : subjects)
    for (const bool parse_special : {true, false}) check(subject, text, parse_special);
  return 0;
}
