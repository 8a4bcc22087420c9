#include <doctest/doctest.h>
#include <fmt/format.h>

#include "base/error.h"
#include "tokenizer/support.h"

using namespace minfer;
using namespace minfer::test;

namespace {

/// 256: "ab", 257: "abc", 258: "<ctl>" (control), 259: "<tag>" (user-defined), 260: "<ctl>x" (control)
MetadataFile example() {
  MetadataFile file = byte_vocabulary({"ab", "abc", "<ctl>", "<tag>", "<ctl>x"}, {"a b", "ab c"});
  auto& types = std::get<std::vector<int32_t>>(file.values["tokenizer.ggml.token_type"]);
  types[258] = types[260] = 3;
  types[259] = 4;
  return file;
}

void refuses(const MetadataFile& file, ErrorCode code, const std::string& message) {
  CAPTURE(message);
  try {
    Tokenizer::load(file.open());
    FAIL_CHECK("accepted");
  } catch (const Error& error) {
    CHECK(error.code == code);
    CHECK(std::string(error.what()) == message);
  }
}

template <class Change>
void refuses_changed(Change change, ErrorCode code, const std::string& message) {
  MetadataFile file = example();
  change(file.values);
  refuses(file, code, message);
}

using Values = std::map<std::string, MetadataFile::Value>;
using Ids = std::vector<Token>;

}  // namespace

TEST_CASE("merges apply by rank") {
  const auto t = Tokenizer::load(example().open());
  CHECK(ids_of(*t, "abcab") == Ids{257, 256});
  CHECK(ids_of(*t, "bcab") == Ids{'b', 'c', 256});
  CHECK(t->size() == 261);
  CHECK(t->token_text(257) == "abc");
  CHECK(t->find("abc") == 257);
  CHECK(t->find("abcd") == std::nullopt);
}

TEST_CASE("special tokens: leftmost, then longest; control tokens only where asked for") {
  const auto t = Tokenizer::load(example().open());
  CHECK(ids_of(*t, "<ctl><ctl>x<tag>") == Ids{258, 260, 259});
  CHECK(ids_of(*t, "<<ctl>") == Ids{'<', 258});
  CHECK(t->encode("<ctl><tag>", {.add_bos = false, .parse_special = false}) ==
        Ids{'<', 'c', 't', 'l', '>', 259});
  CHECK(t->is_control(258));
  CHECK(!t->is_control(259));
  CHECK(t->token_bytes(258, true) == "<ctl>");
  CHECK(t->token_bytes(258, false) == "");
  CHECK(t->token_bytes(259, false) == "<tag>");
}

TEST_CASE("no text spells a control token by a whole-word look-up") {
  MetadataFile file = byte_vocabulary({"word", "stop"}, {});
  file.values["tokenizer.ggml.pre"] = std::string("llama-bpe");
  file.values["tokenizer.ggml.add_bos_token"] = false;
  std::get<std::vector<int32_t>>(file.values["tokenizer.ggml.token_type"])[257] = 3;
  const auto t = Tokenizer::load(file.open());
  const auto plain = [&](std::string_view text) {
    return t->encode(text, {.add_bos = false, .parse_special = false});
  };
  CHECK(plain("word") == Ids{256});
  CHECK(plain("stop") == Ids{'s', 't', 'o', 'p'});
}

TEST_CASE("bytes that are no UTF-8 become the tokens of their bytes, unmerged") {
  const auto t = Tokenizer::load(example().open());
  CHECK(ids_of(*t,
               "ab\xff\xfe"
               "ab") == Ids{256, 0xff, 0xfe, 256});
  CHECK(ids_of(*t, "\xe2\x82") == Ids{0xe2, 0x82});                      // cut short
  CHECK(ids_of(*t, "\xed\xa0\x80") == Ids{0xed, 0xa0, 0x80});            // a surrogate
  CHECK(ids_of(*t, "\xc0\xaf") == Ids{0xc0, 0xaf});                      // overlong
  CHECK(ids_of(*t, "\xf4\x90\x80\x80") == Ids{0xf4, 0x90, 0x80, 0x80});  // past U+10FFFF
  CHECK(ids_of(*t, std::string_view("\0a", 2)) == Ids{0, 'a'});
}

TEST_CASE("the leading token: added where the file or the kind asks for it, never twice") {
  MetadataFile file = example();
  file.values["tokenizer.ggml.bos_token_id"] = int32_t(258);
  CHECK(Tokenizer::load(file.open())->encode("ab", {}) == Ids{256});
  file.values["tokenizer.ggml.add_bos_token"] = true;
  const auto t = Tokenizer::load(file.open());
  CHECK(t->adds_bos());
  CHECK(t->bos() == 258);
  CHECK(t->encode("ab", {}) == Ids{258, 256});
  CHECK(t->encode("", {}) == Ids{258});
  CHECK(t->encode("<ctl>ab", {}) == Ids{258, 256});
  CHECK(t->encode("ab", {.add_bos = false}) == Ids{256});
  CHECK(t->encode("<ctl>", {.parse_special = false}) == Ids{258, '<', 'c', 't', 'l', '>'});
  file.values.erase("tokenizer.ggml.add_bos_token");
  file.values["tokenizer.ggml.pre"] = std::string("llama-bpe");
  CHECK(Tokenizer::load(file.open())->encode("ab", {}) == Ids{258, 256});
}

TEST_CASE("the closing token: added where the file and the caller ask for it, never twice") {
  MetadataFile file = example();
  file.values["tokenizer.ggml.eos_token_id"] = int32_t(260);
  CHECK(Tokenizer::load(file.open())->encode("ab", {.add_eos = true}) == Ids{256});
  file.values["tokenizer.ggml.add_eos_token"] = true;
  const auto t = Tokenizer::load(file.open());
  CHECK(t->encode("ab", {}) == Ids{256});
  CHECK(t->encode("ab", {.add_eos = true}) == Ids{256, 260});
  CHECK(t->encode("ab<ctl>x", {.add_eos = true}) == Ids{256, 260});
  CHECK(t->encode("", {.add_eos = true}) == Ids{260});
  file.values.erase("tokenizer.ggml.eos_token_id");
  refuses(
      file, ErrorCode::bad_model,
      "tokenizer.ggml.eos_token_id is absent; it is expected because tokenizer.ggml.add_eos_token is true");
}

TEST_CASE("end tokens: named by the file, and known by their text") {
  CHECK(qwen3().end_tokens() == Ids{151643, 151645});  // the file names 151645 alone
  CHECK(qwen3().is_end(151643));
  CHECK(!qwen3().is_end(151644));
  // "</s>" is an ordinary word of this vocabulary: it ends nothing.
  REQUIRE(qwen3().find("</s>").has_value());
  CHECK(!qwen3().is_end(*qwen3().find("</s>")));

  MetadataFile file = example();
  file.values["tokenizer.ggml.eos_token_id"] = int32_t(260);
  file.values["tokenizer.ggml.eot_token_id"] = int32_t(258);
  CHECK(Tokenizer::load(file.open())->end_tokens() == Ids{258, 260});
}

TEST_CASE("a byte without a token is left out") {
  MetadataFile file = example();
  std::get<std::vector<std::string>>(file.values["tokenizer.ggml.tokens"])[0xf1] = "[none]";
  const auto t = Tokenizer::load(file.open());
  CHECK(ids_of(*t,
               "a\xf1\x90\x80\x80"
               "b") == Ids{'a', 0x90, 0x80, 0x80, 'b'});
}

TEST_CASE("broken vocabularies are refused, with key, value found and value expected") {
  const auto bad = ErrorCode::bad_model;
  const auto erase = [](const char* key) { return [key](Values& v) { v.erase(key); }; };
  refuses_changed(erase("tokenizer.ggml.model"), bad,
                  "tokenizer.ggml.model is absent; the name of a tokenizer is expected");
  refuses_changed(erase("tokenizer.ggml.pre"), bad,
                  "tokenizer.ggml.pre is absent; a BPE vocabulary needs the name of its pre-tokeniser");
  refuses_changed(erase("tokenizer.ggml.tokens"), bad,
                  "tokenizer.ggml.tokens is absent or empty; a list of tokens is expected");
  refuses_changed(erase("tokenizer.ggml.merges"), bad,
                  "tokenizer.ggml.merges is absent; a BPE vocabulary needs its merge rules");
  refuses_changed([](Values& v) { v["tokenizer.ggml.tokens"] = std::vector<std::string>{}; }, bad,
                  "tokenizer.ggml.tokens is absent or empty; a list of tokens is expected");
  refuses_changed(
      [](Values& v) {
        v["tokenizer.ggml.token_type"] = std::vector<int32_t>{1, 1};
      },
      bad, "tokenizer.ggml.token_type has 2 values; 261 are expected, one for each token");
  refuses_changed([](Values& v) { std::get<std::vector<int32_t>>(v["tokenizer.ggml.token_type"])[7] = 9; },
                  bad, "tokenizer.ggml.token_type[7] = 9; 0 to 6 are expected");
  for (const std::string role : {"bos", "eos", "eot", "unknown", "padding", "seperator", "fim_pre"}) {
    const std::string key = fmt::format("tokenizer.ggml.{}_token_id", role);
    for (const int32_t id : {-1, 261, 2'000'000'000})
      refuses_changed([&](Values& v) { v[key] = id; }, bad,
                      fmt::format("{} = {}; the vocabulary has 0 to 260", key, id));
  }
  refuses_changed(
      [](Values& v) { v["tokenizer.ggml.add_bos_token"] = true; }, bad,
      "tokenizer.ggml.bos_token_id is absent; it is expected because tokenizer.ggml.add_bos_token is true");
  for (const std::string rule : {"ab", "", " ", "a ", " b", "a b c", "a  b"})
    refuses_changed(
        [&](Values& v) {
          v["tokenizer.ggml.merges"] = std::vector<std::string>{"a b", rule};
        },
        bad,
        fmt::format("tokenizer.ggml.merges[1] = \"{}\"; two tokens with one space between them are expected",
                    rule));
  for (const std::string rule : {"a zz", "zz a", "b a"})
    refuses_changed(
        [&](Values& v) { v["tokenizer.ggml.merges"] = std::vector<std::string>{rule}; }, bad,
        fmt::format(
            "tokenizer.ggml.merges[0] = \"{}\"; both parts and their concatenation are expected in the "
            "vocabulary",
            rule));
}

TEST_CASE("unknown kinds are refused by name") {
  refuses_changed([](Values& v) { v["tokenizer.ggml.model"] = std::string("t5"); }, ErrorCode::unsupported,
                  "tokenizer.ggml.model = \"t5\"; known are gpt2 (byte-level BPE) and llama (SentencePiece "
                  "BPE)");
  for (const std::string pre : {"", "default", "qwen", "QWEN2", "deepseek-llm"})
    refuses_changed(
        [&](Values& v) { v["tokenizer.ggml.pre"] = pre; }, ErrorCode::unsupported,
        fmt::format("tokenizer.ggml.pre = \"{}\"; known are gpt-2, llama-bpe, qwen2, smollm", pre));
}

TEST_CASE("ids outside the vocabulary are refused") {
  const auto t = Tokenizer::load(example().open());
  for (const Token id : {-1, 261}) {
    CAPTURE(id);
    CHECK_THROWS_AS(t->token_text(id), Error);
    CHECK_THROWS_AS(t->token_bytes(id, true), Error);
    CHECK_THROWS_AS(t->is_control(id), Error);
    CHECK_THROWS_WITH_AS(t->decode(Ids{0, id}),
                         fmt::format("token id {}; the vocabulary has 0 to 260", id).c_str(), Error);
    CHECK(!t->is_end(id));
  }
}
