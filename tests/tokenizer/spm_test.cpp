// SentencePiece BPE. What is expected comes from the sentencepiece library: see tools/make_spm_golden.py.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "tokenizer/support.h"

using namespace minfer;
using namespace minfer::test;

namespace {

using Ids = std::vector<Token>;
using Values = std::map<std::string, MetadataFile::Value>;
enum : int32_t { normal = 1, unknown, control, user_defined, unused, byte };

struct Piece {
  std::string text;
  float score;
  int32_t type;
};

MetadataFile vocabulary(const std::vector<Piece>& pieces, bool with_bytes) {
  std::vector<std::string> texts;
  std::vector<float> scores;
  std::vector<int32_t> types;
  const auto add = [&](const Piece& piece) {
    texts.push_back(piece.text);
    scores.push_back(piece.score);
    types.push_back(piece.type);
  };
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (with_bytes && i == 3)
      for (int b = 0; b < 256; ++b) add({fmt::format("<0x{:02X}>", b), 0, byte});
    add(pieces[i]);
  }
  MetadataFile file;
  file.values["tokenizer.ggml.model"] = std::string("llama");
  file.values["tokenizer.ggml.tokens"] = texts;
  file.values["tokenizer.ggml.scores"] = scores;
  file.values["tokenizer.ggml.token_type"] = types;
  file.values["tokenizer.ggml.bos_token_id"] = int32_t(1);
  file.values["tokenizer.ggml.eos_token_id"] = int32_t(2);
  return file;
}

/// <unk> 0, <s> 1, </s> 2, the bytes 3 to 258, then these.
enum : Token { space = 259, a, b, ab, space_a, tag };
MetadataFile example() {
  return vocabulary({{"<unk>", 0, unknown},
                     {"<s>", 0, control},
                     {"</s>", 0, control},
                     {"\u2581", -9, normal},
                     {"a", -8, normal},
                     {"b", -7, normal},
                     {"ab", -2, normal},
                     {"\u2581a", -1, normal},
                     {"<tag>", 0, user_defined}},
                    true);
}

void refuses_changed(const std::function<void(Values&)>& change, ErrorCode code, const std::string& message) {
  CAPTURE(message);
  MetadataFile file = example();
  change(file.values);
  try {
    Tokenizer::load(file.open());
    FAIL_CHECK("accepted");
  } catch (const Error& error) {
    CHECK(error.code == code);
    CHECK(std::string(error.what()) == message);
  }
}

}  // namespace

TEST_CASE("Mistral: ids and decoded text of every golden row") {
  const auto rows = read_json(data_path("spm_cases.json"));
  REQUIRE(rows.size() > 300);
  for (const auto& row : rows) {
    const std::string text = row.at("text");
    const Ids ids = row.at("ids");
    CAPTURE(text);
    CHECK(ids_of(mistral(), text) == ids);
    if (row.contains("decoded")) CHECK(mistral().decode(ids) == row.at("decoded").get<std::string>());
  }
}

TEST_CASE("small vocabularies: equal scores, unused pieces, unknown characters") {
  const auto cases = read_json(data_path("spm_small_cases.json"));
  REQUIRE(cases.size() == 40);
  for (const auto& c : cases) {
    std::vector<Piece> pieces;
    for (size_t i = 0; i < c.at("pieces").size(); ++i)
      pieces.push_back({c.at("pieces")[i], c.at("scores")[i], c.at("types")[i]});
    MetadataFile file = vocabulary(pieces, c.at("bytes"));
    file.values["tokenizer.ggml.add_space_prefix"] = c.at("add_space_prefix").get<bool>();
    const auto tokenizer = Tokenizer::load(file.open());
    for (const auto& row : c.at("rows")) {
      CAPTURE(row.dump());
      CHECK(ids_of(*tokenizer, row.at("text").get<std::string>()) == row.at("ids").get<Ids>());
    }
  }
}

TEST_CASE("a space goes before every stretch between special tokens, unless the file says no") {
  MetadataFile file = example();
  const auto with = Tokenizer::load(file.open());
  CHECK(ids_of(*with, "a</s>ab<tag> a") == Ids{space_a, 2, space_a, b, tag, space, space_a});
  CHECK(ids_of(*with, "</s></s>") == Ids{2, 2});
  CHECK(ids_of(*with, "") == Ids{});
  CHECK(ids_of(*with, " ") == Ids{space, space});
  file.values["tokenizer.ggml.add_space_prefix"] = false;
  const auto without = Tokenizer::load(file.open());
  CHECK(ids_of(*without, "a</s>ab<tag> a") == Ids{a, 2, ab, tag, space_a});
  CHECK(without->decode(Ids{space_a, ab}) == " aab");
}

TEST_CASE("no text spells a control, unknown or byte token") {
  const auto t = Tokenizer::load(example().open());
  const auto plain = [&](std::string_view text) {
    return t->encode(text, {.add_bos = false, .parse_special = false});
  };
  const auto bytes = [](std::string_view text) {
    Ids ids{space};
    for (const char c : text) ids.push_back(Token(3 + uint8_t(c)));
    return ids;
  };
  for (const std::string_view text : {"<s>", "</s>", "<unk>", "<0x41>"}) CHECK(plain(text) == bytes(text));
  CHECK(plain("<tag>") == Ids{tag});
  CHECK(ids_of(*t, "<unk>") == Ids{0});
  CHECK(ids_of(*t, "<0x41>") == bytes("<0x41>"));
  CHECK(ids_of(*t, "\xff\xe2\x82") == bytes("\xff\xe2\x82"));

  // Nor by merging: "a" and "b" are pieces, and would make a token of each of these types.
  for (const int32_t type : {control, unknown}) {
    MetadataFile file = example();
    file.values["tokenizer.ggml.add_space_prefix"] = false;
    std::get<std::vector<int32_t>>(file.values["tokenizer.ggml.token_type"])[ab] = type;
    CHECK(Tokenizer::load(file.open())->encode("ab", {.add_bos = false, .parse_special = false}) ==
          Ids{a, b});
  }
}

TEST_CASE("the leading token of a SentencePiece vocabulary: by default, and never twice") {
  MetadataFile file = example();
  const auto t = Tokenizer::load(file.open());
  CHECK(t->adds_bos());
  CHECK(t->encode("a", {}) == Ids{1, space_a});
  CHECK(t->encode("<s>a", {}) == Ids{1, space_a});
  CHECK(t->encode("", {}) == Ids{1});
  const Ids spelled = t->encode("<s>", {.parse_special = false});
  CHECK(std::count(spelled.begin(), spelled.end(), 1) == 1);
  CHECK(spelled.front() == 1);
  CHECK(t->encode("a", {.add_eos = true}) == Ids{1, space_a});
  file.values["tokenizer.ggml.add_eos_token"] = true;
  file.values["tokenizer.ggml.add_bos_token"] = false;
  const auto other = Tokenizer::load(file.open());
  CHECK(other->encode("a", {.add_eos = true}) == Ids{space_a, 2});
  CHECK(other->encode("a", {}) == Ids{space_a});
  CHECK(other->encode("<s>a", {}) == Ids{1, space_a});
}

TEST_CASE("decoding drops the first space of a text, and of a stream that goes on from no text") {
  const auto t = Tokenizer::load(example().open());
  CHECK(t->decode(Ids{space_a, space_a}) == "a a");
  CHECK(t->decode(Ids{1, space_a, space_a}, false) == "a a");
  CHECK(t->decode(Ids{1, space_a, 2, space_a}) == "<s> a</s> a");  // as published tokenizers show it
  CHECK(t->decode(Ids{space, space, a}) == " a");
  CHECK(t->decode(Ids{a, space_a}) == "a a");
  CHECK(t->decode(Ids{Token(3 + 'x'), space_a}) == "x a");
  CHECK(t->decode(Ids{0, space_a}) == "<unk> a");
  CHECK(t->decode(Ids{0, space_a}, false) == "a");

  const auto streamed = [&](const Ids& context, const Ids& ids) {
    StreamDecoder stream(*t, false, context);
    std::string text;
    for (const Token id : ids) text += stream.push(id);
    return text + stream.finish();
  };
  CHECK(streamed({}, {1, space_a, space_a}) == "a a");
  CHECK(streamed({1, a}, {space_a, space_a}) == " a a");
  CHECK(streamed({a, 2}, {space_a, space_a}) == "a a");
  CHECK(streamed({a, tag}, {space_a}) == "a");
  // Bytes wait until they are a character.
  StreamDecoder stream(*t);
  CHECK(stream.push(3 + 0xF0) == "");
  CHECK(stream.push(3 + 0x9F) == "");
  CHECK(stream.push(3 + 0xA6) == "");
  CHECK(stream.push(3 + 0x99) == "🦙");
}

TEST_CASE("broken SentencePiece vocabularies are refused") {
  const auto bad = ErrorCode::bad_model;
  refuses_changed([](Values& v) { v.erase("tokenizer.ggml.scores"); }, bad,
                  "tokenizer.ggml.scores is absent; a SentencePiece vocabulary needs a score for each token");
  refuses_changed(
      [](Values& v) {
        v["tokenizer.ggml.scores"] = std::vector<float>{1, 2};
      },
      bad, "tokenizer.ggml.scores has 2 values; 265 are expected, one for each token");
  refuses_changed([](Values& v) { std::get<std::vector<float>>(v["tokenizer.ggml.scores"])[7] = NAN; }, bad,
                  "tokenizer.ggml.scores[7] is not a number; a number is expected");
  refuses_changed([](Values& v) { v.erase("tokenizer.ggml.token_type"); }, bad,
                  "tokenizer.ggml.token_type is absent; a SentencePiece vocabulary needs it to tell pieces "
                  "from control and byte tokens");
  refuses_changed([](Values& v) { v.erase("tokenizer.ggml.bos_token_id"); }, bad,
                  "tokenizer.ggml.bos_token_id is absent; it is expected because this kind of tokenizer adds "
                  "it");
  for (const std::string text : {"<0x4>", "<0xGG>", "<0x041>", "0x41", "<0x4 >", "<0x-1>"})
    refuses_changed(
        [&](Values& v) { std::get<std::vector<std::string>>(v["tokenizer.ggml.tokens"])[5] = text; }, bad,
        fmt::format(
            "tokenizer.ggml.tokens[5] = \"{}\" has the type of a byte; a text like <0x0A> is expected",
            text));
  refuses_changed([](Values& v) { v["tokenizer.ggml.remove_extra_whitespaces"] = true; },
                  ErrorCode::unsupported,
                  "tokenizer.ggml.remove_extra_whitespaces = true is not supported for a SentencePiece BPE "
                  "vocabulary");
  refuses_changed([](Values& v) { v["tokenizer.ggml.precompiled_charsmap"] = std::vector<int32_t>{1}; },
                  ErrorCode::unsupported,
                  "tokenizer.ggml.precompiled_charsmap: normalisation by a table of characters is not "
                  "supported for a SentencePiece BPE vocabulary");
}
