#include <doctest/doctest.h>

#include "tokenizer/bpe.h"
#include "tokenizer/byte_level.h"
#include "tokenizer/nfc.h"
#include "tokenizer/special_tokens.h"
#include "tokenizer/splitter.h"
#include "tokenizer/support.h"

using namespace minfer;
using namespace minfer::test;

TEST_CASE("every byte has one stand-in, and it leads back") {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += byte_level::stand_in(uint8_t(byte));
  std::string back;
  REQUIRE(byte_level::append_bytes(all, back));
  REQUIRE(back.size() == 256);
  for (int byte = 0; byte < 256; ++byte) CHECK(uint8_t(back[size_t(byte)]) == byte);
  CHECK(byte_level::stand_in(' ') == "Ġ");
  CHECK(byte_level::stand_in('\n') == "Ċ");
  CHECK(byte_level::stand_in('A') == "A");
  CHECK(byte_level::stand_in(0xAD) == "Ń");  // the last of the 68
  for (const char* text : {" ", "\u00AD", "\u0144", "\u4e00", "\xC4", "a\xFF"}) {
    CHECK(!byte_level::append_bytes(text, back));
    CHECK(back.size() == 256);
  }
}

TEST_CASE("NFC: examples of Unicode Standard Annex 15") {
  CHECK(nfc("plain") == "plain");
  CHECK(nfc("A\u030A") == "\u00C5");
  CHECK(nfc("\u212B") == "\u00C5");               // a singleton
  CHECK(nfc("\u1E9B\u0323") == "\u1E9B\u0323");   // figure 6
  CHECK(nfc("\uFB01") == "\uFB01");               // compatibility forms stay
  CHECK(nfc("\u0958") == "\u0915\u093C");         // a composition exclusion
  CHECK(nfc("d\u0307\u0323") == "\u1E0D\u0307");  // marks are ordered, then composed
  CHECK(nfc("\u1100\u1161\u11A8") == "\uAC01");   // Hangul
  CHECK(nfc("a\u0301\u0301") == "\u00E1\u0301");
  CHECK(nfc("a\u0D3B\u0301") == "a\u0D3B\u0301");  // Unicode 10 gave U+0D3B the class 9
  CHECK(nfc("a\u1DFBb\u0323\u0301") == "a\u1DFB\u1E05\u0301");
}

TEST_CASE("white space is the Unicode property") {
  const Splitter words(R"(\S+)");
  const auto count = [&](std::string_view text) {
    std::vector<std::string_view> pieces;
    words.split(text, pieces);
    return pieces.size();
  };
  for (const char* space : {"\t", "\n", "\v", "\f", "\r", " ", "\u0085", "\u00A0", "\u1680", "\u2000",
                            "\u200A", "\u2028", "\u2029", "\u202F", "\u205F", "\u3000"})
    CHECK(count("a" + std::string(space) + "b") == 3);
  for (const char* other : {"\u001C", "\u180E", "\u200B", "\u2060", "\uFEFF"})
    CHECK(count("a" + std::string(other) + "b") == 1);
}

TEST_CASE("the pieces of a split are the text: between matches too") {
  std::vector<std::string_view> pieces;
  Splitter(R"(b+)").split("abbcb\u00e9", pieces);
  CHECK(pieces == std::vector<std::string_view>{"a", "bb", "c", "b", "\u00e9"});
}

TEST_CASE("special tokens are found leftmost, then longest") {
  const SpecialTokens tokens({{"ab", 1}, {"abc", 2}, {"bcd", 3}, {"ab", 4}, {"abcde", 5}});
  const auto check = [&](std::string_view text, size_t begin, size_t length, Token id) {
    const auto match = tokens.find(text, 0);
    REQUIRE(match);
    CHECK(match->begin == begin);
    CHECK(match->length == length);
    CHECK(match->id == id);
  };
  check("xabx", 1, 2, 1);
  check("xabcd", 1, 3, 2);
  check("abcde", 0, 5, 5);
  check("aabcd", 1, 3, 2);
  check("acbcd", 2, 3, 3);
  CHECK(!tokens.find("a b bc", 0));
  CHECK(!tokens.find("ab", 1));
  CHECK(!SpecialTokens({}).find("ab", 0));
}
