#include <doctest/doctest.h>

#include <random>

#include "tokenizer/support.h"
#include "tokenizer/utf8.h"

using namespace minfer;
using namespace minfer::test;

namespace {

/// 256 byte tokens, then tokens that begin and end inside characters.
const Tokenizer& pieces() {
  static const auto tokenizer = Tokenizer::load(byte_vocabulary({"âĤ", "¬a", "ðŁ", "ĺĢ"}, {}).open());
  return *tokenizer;
}

std::vector<Token> bytes(std::string_view text) {
  std::vector<Token> ids;
  for (const char c : text) ids.push_back(uint8_t(c));
  return ids;
}

}  // namespace

TEST_CASE("bytes become text as The Unicode Standard's tables 3-8 to 3-11 say") {
  const std::pair<std::string_view, std::string_view> rows[] = {
      {"\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41", "\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFDA"},
      {"\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41", "\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFDA"},
      {"\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42", "\uFFFD\uFFFD\uFFFD\uFFFD\uFFFDA\uFFFD\uFFFDB"},
      {"\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41", "\uFFFD\uFFFD\uFFFD\uFFFDA"},
      {"\xF0\x9F\x98\x80", "😀"},
      {"\xF0\x9F\x98", "\uFFFD"},
      {"a\xE2\x82", "a\uFFFD"},
  };
  for (const auto& [in, out] : rows) {
    CAPTURE(out);
    CHECK(pieces().decode(bytes(in)) == out);
  }
}

TEST_CASE("text comes out as soon as it is certain") {
  StreamDecoder stream(pieces());
  CHECK(stream.push(256) == "");    // E2 82
  CHECK(stream.push(257) == "€a");  // AC 61
  CHECK(stream.push(258) == "");    // F0 9F
  CHECK(stream.push(259) == "😀");   // 98 80
  CHECK(stream.push(258) == "");
  CHECK(stream.push('x') == "\uFFFDx");  // no longer a character
  CHECK(stream.push(0xFF) == "\uFFFD");
  CHECK(stream.push(0xE2) == "");
  CHECK(stream.finish() == "\uFFFD");
  CHECK(stream.finish() == "");
}

TEST_CASE("streamed text is whole characters and equals the decoded text") {
  std::mt19937 rng(1);
  std::uniform_int_distribution<Token> any_id(0, pieces().size() - 1);
  std::uniform_int_distribution<int> length(0, 12);
  for (int round = 0; round < 2000; ++round) {
    std::vector<Token> ids;
    for (int n = length(rng); n > 0; --n) ids.push_back(any_id(rng));
    StreamDecoder stream(pieces());
    std::string text;
    for (const Token id : ids) {
      const std::string part = stream.push(id);
      REQUIRE(utf8::valid_prefix(part) == part.size());
      text += part;
    }
    text += stream.finish();
    REQUIRE(text == pieces().decode(ids));
  }
}

TEST_CASE("every way to cut a text in two tokens decodes to the same text") {
  const std::string text = "a\u00e9\u20ac\U0001F600\n";
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    MetadataFile file = byte_vocabulary({}, {});
    auto& tokens = std::get<std::vector<std::string>>(file.values["tokenizer.ggml.tokens"]);
    auto& types = std::get<std::vector<int32_t>>(file.values["tokenizer.ggml.token_type"]);
    const Token first = Token(tokens.size());
    for (const std::string& half : {text.substr(0, cut), text.substr(cut)}) {
      std::string stand_ins;
      for (const char c : half) stand_ins += tokens[uint8_t(c)];
      tokens.push_back(stand_ins);
      types.push_back(1);
    }
    const auto tokenizer = Tokenizer::load(file.open());
    StreamDecoder stream(*tokenizer);
    const std::string head = stream.push(first);
    const std::string tail = stream.push(first + 1);
    CHECK(head == text.substr(0, utf8::valid_prefix(text.substr(0, cut))));
    CHECK(head + tail == text);
    CHECK(stream.finish() == "");
  }
}

TEST_CASE("control tokens are not shown in a stream unless asked for") {
  const Token end = 151645;
  StreamDecoder plain(qwen3()), special(qwen3(), true);
  CHECK(plain.push(end) == "");
  CHECK(special.push(end) == "<|im_end|>");
  CHECK(qwen3().decode(std::vector<Token>{end}, false) == "");
  CHECK(qwen3().decode(std::vector<Token>{end}) == "<|im_end|>");
}
