// Files made to lie: every refusal names the record, and nothing is allocated for a length that is not there.
#include <doctest/doctest.h>

#include <fstream>

#include "gguf/gguf.h"
#include "raw_file.h"
#include "refusal.h"

using namespace minfer;
using namespace minfer::test;

namespace {

/// All kinds of records in one small file: every scalar type, arrays of numbers and strings, three tensors.
RawFile complete_file() {
  RawFile f(3, 15);
  f.key("general.architecture", RawFile::string).str("test");
  f.key("u8", RawFile::u8, uint8_t(200)).key("i8", RawFile::i8, int8_t(-5));
  f.key("u16", RawFile::u16, uint16_t(65535)).key("i16", RawFile::i16, int16_t(-300));
  f.key("u32", RawFile::u32, 4000000000u).key("i32", RawFile::i32, int32_t(-70000));
  f.key("u64", RawFile::u64, uint64_t(1) << 40).key("i64", RawFile::i64, -(int64_t(1) << 40));
  f.key("f32", RawFile::f32, 0.5f).key("f64", RawFile::f64, 0.25).key("bool", RawFile::boolean, uint8_t(1));
  f.array_key("ints", RawFile::i32, 3).put(int32_t(1)).put(int32_t(2)).put(int32_t(3));
  f.array_key("strings", RawFile::string, 2).str("one").str("");
  f.array_key("none", RawFile::f32, 0);
  f.tensor("a", {32, 2}, 2, 0).tensor("b", {3}, 0, 64).tensor("c", {256}, 14, 96);
  return f.data(64 + 32 + 224);
}

void check_says(const RawFile& f, const std::string& part) {
  const Refusal r = parse_refusal(f.bytes());
  CAPTURE(r.message);
  CHECK(contains(r.message, "f.gguf: "));
  CHECK(contains(r.message, part));
  CHECK_FALSE(contains(r.message, "\n"));
}

}  // namespace

TEST_CASE("a file cut at any byte is refused, and says where") {
  const auto whole = complete_file();
  REQUIRE_NOTHROW(gguf::File::parse(whole.bytes(), "f.gguf"));
  const std::span<const std::byte> bytes(whole.bytes());
  // The last tensor is 210 bytes; the padding after it may be missing.
  const size_t needed = bytes.size() - 224 + 210;
  for (size_t size = 0; size < bytes.size(); ++size) {
    CAPTURE(size);
    if (size >= needed) {
      CHECK_NOTHROW(gguf::File::parse(bytes.subspan(0, size), "f.gguf"));
      continue;
    }
    // A copy of the exact size lets the address sanitizer see any read past the end.
    const std::vector<std::byte> cut(bytes.begin(), bytes.begin() + std::ptrdiff_t(size));
    const Refusal r = parse_refusal(cut);
    CAPTURE(r.message);
    CHECK(r.code == ErrorCode::bad_model);
    const bool named = contains(r.message, "key") || contains(r.message, "tensor") ||
                       contains(r.message, "header") || contains(r.message, "not a GGUF");
    CHECK(named);
    const std::string n = std::to_string(size);
    if (size >= 4)
      CHECK((contains(r.message, "file has " + n) || contains(r.message, "file of " + n + " bytes")));
  }
}

TEST_CASE("a changed byte gives a file or an Error, nothing else") {
  const auto whole = complete_file();
  std::vector<std::byte> bytes = whole.bytes();
  int opened = 0;
  for (size_t at = 0; at < bytes.size(); ++at) {
    for (int value : {0x00, 0x01, 0x7f, 0x80, 0xff}) {
      const std::byte saved = bytes[at];
      bytes[at] = std::byte(value);
      try {
        gguf::File::parse(bytes, "f.gguf");
        ++opened;
      } catch (const Error&) {
      }
      bytes[at] = saved;
    }
  }
  CHECK(opened > 0);
}

TEST_CASE("counts and lengths beyond the file") {
  constexpr uint64_t huge = ~uint64_t(0);
  check_says(RawFile(0, huge), "18446744073709551615 metadata keys do not fit a file of 24 bytes");
  check_says(RawFile(huge, 0), "18446744073709551615 tensors do not fit a file of 24 bytes");
  check_says(RawFile(uint64_t(1) << 60, 0), "tensors do not fit");
  check_says(RawFile(0, 1).put(huge).text("0123456789"), "key 1 of 1: name needs 18446744073709551615 bytes");
  check_says(RawFile(0, 1).key("k", RawFile::string).put(huge - 8).text("abc"),
             "key 'k': value needs 18446744073709551607 bytes");
  for (auto type : {RawFile::u8, RawFile::u32, RawFile::f64})
    for (uint64_t count : {huge, uint64_t(1) << 63, uint64_t(1) << 61, uint64_t(100)})
      check_says(RawFile(0, 1).array_key("k", type, count).text("abc"),
                 "key 'k': array of " + std::to_string(count));
  check_says(RawFile(0, 1).array_key("k", RawFile::string, huge).str("abc"),
             "key 'k': array element needs 8 bytes");
  check_says(RawFile(0, 1).array_key("k", RawFile::string, 2).str("abc").put(huge).text("abc"),
             "key 'k': array element needs 18446744073709551615 bytes");
}

TEST_CASE("metadata rules") {
  check_says(RawFile(0, 1).str("").put(uint32_t(0)).put(uint8_t(1)), "key 1 of 1: its name has 0 bytes");
  check_says(RawFile(0, 1).key(std::string(65536, 'k'), RawFile::u8, uint8_t(1)), "its name has 65536 bytes");
  check_says(RawFile(0, 1).key("k", RawFile::Type(13), uint64_t(1)),
             "key 'k': value type is 13, expected 0 to 12");
  check_says(RawFile(0, 1).array_key("k", RawFile::Type(99), 1).put(uint64_t(0)), "element type is 99");
  check_says(RawFile(0, 1).array_key("k", RawFile::array, 1).put(uint32_t(0)).put(uint64_t(0)),
             "key 'k': array of arrays");
  check_says(RawFile(0, 3)
                 .key("k", RawFile::u8, uint8_t(1))
                 .key("l", RawFile::u8, uint8_t(1))
                 .key("k", RawFile::u8, uint8_t(2)),
             "key 'k': appears twice, as key 1 and 3 of 3");
  check_says(RawFile(0, 1).key("general.alignment", RawFile::u64, uint64_t(32)),
             "key 'general.alignment': is u64, expected u32");
  for (uint32_t alignment : {1u, 4u, 33u, 1u << 21})
    check_says(RawFile(0, 1).key("general.alignment", RawFile::u32, alignment), "expected a power of two");
  // Control characters from the file do not reach the terminal.
  check_says(RawFile(0, 1).key("a\x1b[2J\nb", RawFile::Type(13), uint64_t(1)), "key 'a\\x1b[2J\\nb'");
}

TEST_CASE("tensor rules") {
  check_says(RawFile(1, 0).tensor("", {8}, 0, 0).data(32), "its name has 0 bytes, expected 1 to 63");
  check_says(RawFile(1, 0).tensor(std::string(64, 'n'), {8}, 0, 0).data(32), "its name has 64 bytes");
  CHECK_NOTHROW(
      gguf::File::parse(RawFile(1, 0).tensor(std::string(63, 'n'), {8}, 0, 0).data(32).bytes(), "f"));
  check_says(RawFile(2, 0).tensor("t", {8}, 0, 0).tensor("t", {8}, 0, 32).data(64),
             "tensor 't': appears twice, as tensor 1 and 2 of 2");
  check_says(RawFile(1, 0).tensor("t", {1, 1, 1, 1, 1}, 0, 0).data(32),
             "tensor 't': 5 dimensions, expected at most 4");
  check_says(RawFile(1, 0).tensor("t", {8, -1}, 0, 0).data(32), "tensor 't': dimension 1 is -1");
  constexpr int64_t big = int64_t(1) << 32;
  check_says(RawFile(1, 0).tensor("t", {big, big}, 0, 0).data(32), "has more than 2^63 elements");
  check_says(RawFile(1, 0).tensor("t", {0, big, big}, 0, 0).data(32), "has more than 2^63 elements");
  check_says(RawFile(1, 0).tensor("t", {big, big / 4}, 0, 0).data(32), "more than 2^64 bytes");
  check_says(RawFile(1, 0).tensor("t", {big, big / 8}, 0, 0).data(32),
             "tensor 't': needs 9223372036854775808 bytes");
  check_says(RawFile(1, 0).tensor("t", {33}, 8, 0).data(64), "rows of 33 values, expected a multiple of 32");
  check_says(RawFile(2, 0).tensor("t", {8}, 0, 0).tensor("u", {8}, 0, 64).data(96),
             "tensor 'u': data offset is 64, expected 32");
}

TEST_CASE("shapes with few or no elements") {
  const RawFile f =
      RawFile(3, 0).tensor("s", {}, 0, 0).tensor("e", {0, 5}, 0, 32).tensor("l", {2}, 0, 32).data(40);
  const auto file = gguf::File::parse(f.bytes(), "f.gguf");
  CHECK(file->find_tensor("s")->shape == std::vector<int64_t>{1});
  CHECK(file->find_tensor("s")->data.size() == 4);
  CHECK(file->find_tensor("e")->data.empty());
  CHECK(file->find_tensor("e")->rows() == 5);
  CHECK(file->find_tensor("l")->data.size() == 8);
}

TEST_CASE("version 2 has the same grammar; another alignment moves the data") {
  const RawFile f = RawFile(2, 1, 2)
                        .key("general.alignment", RawFile::u32, 256u)
                        .tensor("t", {1}, 0, 0)
                        .tensor("u", {1}, 0, 256)
                        .data(260, 256);
  const auto file = gguf::File::parse(f.bytes(), "f.gguf");
  CHECK(file->version() == 2);
  CHECK(file->find_tensor("t")->data.data() == f.bytes().data() + 256);
  CHECK(file->find_tensor("u")->data.data() == f.bytes().data() + 512);
}

TEST_CASE("files that cannot be opened") {
  CHECK(refusal_of([] { gguf::File::open("/nonexistent/m.gguf"); }).code == ErrorCode::io);
  const Refusal folder = refusal_of([] { gguf::File::open(MINFER_TEST_DATA_DIR); });
  CHECK(folder.code == ErrorCode::io);
  CHECK(contains(folder.message, "is a folder, expected a file"));
  CHECK(refusal_of([] { gguf::File::open("/dev/zero"); }).code == ErrorCode::io);
}

TEST_CASE("a vocabulary without tensors may end without padding") {
  const RawFile f = RawFile(0, 1).key("k", RawFile::u8, uint8_t(7));  // outlives the views into it
  const auto file = gguf::File::parse(f.bytes(), "f.gguf");
  CHECK(file->tensors().empty());
  CHECK(file->get_int("k") == 7);
}
