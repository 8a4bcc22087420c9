// Typed access to metadata.
#include <doctest/doctest.h>

#include <chrono>

#include "gguf/gguf.h"
#include "raw_file.h"
#include "refusal.h"

using namespace minfer;
using namespace minfer::test;

TEST_CASE("typed access converts what fits and refuses the rest by name") {
  RawFile f(0, 16);
  f.key("u8", RawFile::u8, uint8_t(200)).key("i8", RawFile::i8, int8_t(-5));
  f.key("u16", RawFile::u16, uint16_t(65535)).key("i16", RawFile::i16, int16_t(-300));
  f.key("u32", RawFile::u32, 4000000000u).key("i32", RawFile::i32, int32_t(-70000));
  f.key("u64", RawFile::u64, uint64_t(1) << 63).key("i64", RawFile::i64, INT64_MIN);
  f.key("f32", RawFile::f32, 1e-6f).key("f64", RawFile::f64, 0.1).key("bool", RawFile::boolean, uint8_t(1));
  f.key("s", RawFile::string).str("text");
  f.array_key("strings", RawFile::string, 3).str("one").str("").str("three");
  f.array_key("floats", RawFile::f32, 2).put(1.5f).put(-2.0f);
  f.array_key("ints", RawFile::u16, 2).put(uint16_t(7)).put(uint16_t(65535));
  f.array_key("none", RawFile::string, 0);
  const auto file = gguf::File::parse(f.bytes(), "m.gguf");

  CHECK(file->get_int("u8") == 200);
  CHECK(file->get_int("i8") == -5);
  CHECK(file->get_int("u16") == 65535);
  CHECK(file->get_int("i16") == -300);
  CHECK(file->get_int("u32") == 4000000000);
  CHECK(file->get_int("i32") == -70000);
  CHECK(file->get_int("i64") == INT64_MIN);
  CHECK(file->get_float("f32") == double(1e-6f));
  CHECK(file->get_float("f64") == 0.1);
  CHECK(file->get_float("i8") == -5.0);
  CHECK(file->get_bool("bool") == true);
  CHECK(file->get_string("s") == "text");
  CHECK(file->get_strings("strings") == std::vector<std::string_view>{"one", "", "three"});
  CHECK(file->get_floats("floats") == std::vector<float>{1.5f, -2.0f});
  CHECK(file->get_ints("ints") == std::vector<int64_t>{7, 65535});
  CHECK(file->get_floats("ints") == std::vector<float>{7, 65535});
  CHECK(file->get_strings("none")->empty());

  CHECK_FALSE(file->get_int("absent").has_value());
  CHECK_FALSE(file->get_strings("absent").has_value());

  const auto message = [](auto action) { return refusal_of(action).message; };
  CHECK(message([&] { file->get_int("s"); }) == "m.gguf: key 's' is string, expected an integer");
  CHECK(message([&] { file->get_int("f32"); }) == "m.gguf: key 'f32' is f32, expected an integer");
  CHECK(message([&] { file->get_int("bool"); }) == "m.gguf: key 'bool' is bool, expected an integer");
  CHECK(message([&] { file->get_int("ints"); }) == "m.gguf: key 'ints' is array of u16, expected an integer");
  CHECK(message([&] { file->get_int("u64"); }) == "m.gguf: key 'u64' holds a value above 2^63 - 1");
  CHECK(message([&] { file->get_float("s"); }) == "m.gguf: key 's' is string, expected a number");
  CHECK(message([&] { file->get_bool("u8"); }) == "m.gguf: key 'u8' is u8, expected bool");
  CHECK(message([&] { file->get_string("u8"); }) == "m.gguf: key 'u8' is u8, expected string");
  CHECK(message([&] { file->get_strings("s"); }) ==
        "m.gguf: key 's' is string, expected an array of strings");
  CHECK(message([&] { file->get_strings("ints"); }) ==
        "m.gguf: key 'ints' is array of u16, expected an array of strings");
  CHECK(message([&] { file->get_ints("floats"); }) ==
        "m.gguf: key 'floats' is array of f32, expected an array of integers");
}

TEST_CASE("a vocabulary of 152k tokens opens without copying it") {
  constexpr uint64_t count = 152000;
  RawFile f(0, 3);
  f.array_key("tokenizer.ggml.tokens", RawFile::string, count);
  for (uint64_t i = 0; i < count; ++i) f.str("token" + std::to_string(i));
  f.array_key("tokenizer.ggml.merges", RawFile::string, count);
  for (uint64_t i = 0; i < count; ++i) f.str("tok en" + std::to_string(i));
  f.key("after", RawFile::u8, uint8_t(1));
  const auto start = std::chrono::steady_clock::now();
  const auto file = gguf::File::parse(f.bytes(), "m.gguf");
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  MESSAGE("opening took " << took.count() << " ms");
  const gguf::Value* tokens = file->find("tokenizer.ggml.tokens");
  REQUIRE(tokens != nullptr);
  CHECK(tokens->count == count);
  CHECK(tokens->data.data() > f.bytes().data());
  CHECK(tokens->data.data() < f.bytes().data() + f.bytes().size());
  CHECK(file->get_strings("tokenizer.ggml.tokens")->back() == "token151999");
  CHECK(file->get_int("after") == 1);
}
