// What the reader stands on: the file hash, printable text, split names, lookup by name.
#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <vector>

#include "base/sha256.h"
#include "gguf/name_index.h"
#include "gguf/printable.h"
#include "gguf/split_name.h"
#include "refusal.h"

using namespace minfer;
using namespace minfer::test;

TEST_CASE("SHA-256 of the published examples, in one piece and in several") {
  const auto hash = [](const std::vector<std::string>& pieces) {
    Sha256 sha;
    for (const std::string& p : pieces) sha.update(std::as_bytes(std::span(p)));
    return sha.hex();
  };
  CHECK(hash({}) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(hash({"abc"}) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(hash({"a", "", "bc"}) == hash({"abc"}));
  CHECK(hash({std::string(1000000, 'a')}) ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("SHA-256 of a file") {
  const std::string dir = MINFER_TEST_DATA_DIR;
  CHECK(sha256_file(dir + "/gguf/cases/empty.gguf") ==
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256_file(dir + "/gguf/cases/magic_only.gguf").size() == 64);
  CHECK(refusal_of([] { sha256_file("/nonexistent"); }).code == ErrorCode::io);
  CHECK(refusal_of([&] { sha256_file(dir); }).code == ErrorCode::io);
}

TEST_CASE("text from a file becomes one safe line") {
  using gguf::printable;
  CHECK(printable("plain text, Grüße, 日本, 😀") == "plain text, Grüße, 日本, 😀");
  CHECK(printable("a\nb\tc\rd\\e") == "a\\nb\\tc\\rd\\\\e");
  CHECK(printable("\x1b[31m\x7f") == "\\x1b[31m\\x7f");
  CHECK(printable(std::string_view("a\0b", 3)) == "a\\x00b");
  CHECK(printable("\xc2\x9b") == "\\xc2\\x9b");           // U+009B, a control sequence introducer
  CHECK(printable("\xe2\x80\xae") == "\\xe2\\x80\\xae");  // U+202E, right-to-left override
  CHECK(printable("\xff\xc3(\xe2\x82") == "\\xff\\xc3(\\xe2\\x82");
  CHECK(printable("\xc0\x80\xed\xa0\x80") == "\\xc0\\x80\\xed\\xa0\\x80");  // overlong, surrogate
  CHECK(printable("ééé", 5) == "éé…");
  CHECK(printable("abc", 3) == "abc");
}

TEST_CASE("UTF-8 characters are measured by the standard's table") {
  using gguf::utf8_length;
  CHECK(utf8_length("") == 0);
  CHECK(utf8_length("a") == 1);
  CHECK(utf8_length("\xc2\x80") == 2);
  CHECK(utf8_length("\xc1\xbf") == 0);
  CHECK(utf8_length("\xe0\xa0\x80") == 3);
  CHECK(utf8_length("\xe0\x9f\xbf") == 0);
  CHECK(utf8_length("\xed\x9f\xbf") == 3);
  CHECK(utf8_length("\xed\xa0\x80") == 0);
  CHECK(utf8_length("\xf0\x90\x80\x80") == 4);
  CHECK(utf8_length("\xf0\x8f\xbf\xbf") == 0);
  CHECK(utf8_length("\xf4\x8f\xbf\xbf") == 4);
  CHECK(utf8_length("\xf4\x90\x80\x80") == 0);
  CHECK(utf8_length("\x80") == 0);
}

TEST_CASE("names of split models") {
  using gguf::parse_split_name;
  const auto split = parse_split_name("/models/big-00002-of-00011.gguf");
  REQUIRE(split.has_value());
  CHECK(split->prefix == "/models/big");
  CHECK(split->number == 2);
  CHECK(split->count == 11);
  CHECK(split->path() == "/models/big-00002-of-00011.gguf");
  CHECK(split->path_of(1) == "/models/big-00001-of-00011.gguf");
  for (const char* other :
       {"big.gguf", "-00001-of-00002.gguf", "big-0001-of-0002.gguf", "big-00003-of-00002.gguf",
        "big-00000-of-00002.gguf", "big-00001-of-00002.bin", "big-0000x-of-00002.gguf",
        "big-00001-of-00002.gguf.part", "big_00001-of-00002.gguf", ""})
    CHECK_FALSE(parse_split_name(other).has_value());
}

TEST_CASE("the name index finds every name and reports twins in file order") {
  const std::vector<std::string> names = {"m", "a", "z", "b", ""};
  const auto view = [](const std::string& s) -> std::string_view { return s; };
  const gguf::NameIndex index(names, view);
  for (size_t i = 0; i < names.size(); ++i) CHECK(index.find(names[i]) == i);
  CHECK_FALSE(index.find("c").has_value());
  CHECK_FALSE(index.find("zz").has_value());
  CHECK_FALSE(index.duplicate().has_value());
  const std::vector<std::string> twins = {"x", "b", "y", "b"};
  CHECK(gguf::NameIndex(twins, view).duplicate() == std::pair(size_t(1), size_t(3)));
}
