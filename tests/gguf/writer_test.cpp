// The writer and the reader agree, and split models equal their twin in one file.
#include "gguf/writer.h"

#include <doctest/doctest.h>

#include <fmt/format.h>
#include <algorithm>

#include <cstdlib>
#include <filesystem>

#include "raw_file.h"
#include "refusal.h"

using namespace minfer;
using namespace minfer::test;
namespace fs = std::filesystem;

namespace {

struct TempDir {
  fs::path path;
  TempDir() {
    std::string name = (fs::temp_directory_path() / "minfer-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path = name;
  }
  ~TempDir() { fs::remove_all(path); }
};

std::vector<std::byte> pattern(size_t size, int seed) {
  std::vector<std::byte> bytes(size);
  for (size_t i = 0; i < size; ++i) bytes[i] = std::byte((i * 31 + size_t(seed)) & 0xff);
  return bytes;
}

/// Five tensors, most of a size that needs padding.
gguf::Writer sample(uint32_t alignment = 32) {
  gguf::Writer w(alignment);
  w.set("general.architecture", "test");
  w.set("tokens", std::vector<std::string>{"a", "", "\xff"});
  w.add_tensor("t0", DType::f32, {3}, pattern(12, 0));
  w.add_tensor("t1", DType::q4_0, {64, 3}, pattern(2 * 18 * 3, 1));
  w.add_tensor("t2", DType::q6_k, {256, 2}, pattern(420, 2));
  w.add_tensor("t3", DType::bf16, {2, 2, 2, 2}, pattern(32, 3));
  w.add_tensor("t4", DType::q8_0, {32}, pattern(34, 4));
  return w;
}

std::string split_refusal(const std::string& path) {
  return refusal_of([&] { gguf::File::open(path); }).message;
}

}  // namespace

TEST_CASE("every value type and tensor comes back as written") {
  gguf::Writer w = sample();
  w.set("b", true);
  w.set("u8", uint8_t(255));
  w.set("i8", int8_t(-128));
  w.set("u16", uint16_t(1));
  w.set("i16", int16_t(-1));
  w.set("u32", uint32_t(1) << 31);
  w.set("i32", int32_t(INT32_MIN));
  w.set("u64", uint64_t(INT64_MAX));
  w.set("i64", int64_t(INT64_MIN));
  w.set("f32", 1e-5f);
  w.set("f64", 1e-5);
  w.set("floats", std::vector<float>{1, 2});
  w.set("ints", std::vector<int32_t>{-1, 2});
  const auto bytes = w.bytes();
  const auto file = gguf::File::parse(bytes, "w.gguf");
  CHECK(file->get_string("general.architecture") == "test");
  CHECK(file->get_strings("tokens") == std::vector<std::string_view>{"a", "", "\xff"});
  CHECK(file->get_bool("b") == true);
  CHECK(file->get_int("u8") == 255);
  CHECK(file->get_int("i8") == -128);
  CHECK(file->get_int("u16") == 1);
  CHECK(file->get_int("i16") == -1);
  CHECK(file->get_int("u32") == int64_t(1) << 31);
  CHECK(file->get_int("i32") == INT32_MIN);
  CHECK(file->get_int("u64") == INT64_MAX);
  CHECK(file->get_int("i64") == INT64_MIN);
  CHECK(file->get_float("f32") == double(1e-5f));
  CHECK(file->get_float("f64") == 1e-5);
  CHECK(file->get_floats("floats") == std::vector<float>{1, 2});
  CHECK(file->get_ints("ints") == std::vector<int64_t>{-1, 2});
  REQUIRE(file->tensors().size() == 5);
  const gguf::TensorInfo* t = file->find_tensor("t2");
  REQUIRE(t != nullptr);
  CHECK(t->type == DType::q6_k);
  CHECK(t->shape == std::vector<int64_t>{256, 2});
  CHECK(std::ranges::equal(t->data, pattern(420, 2)));

  gguf::Writer copy;
  for (const auto& [key, value] : file->metadata()) copy.set(key, value);
  for (const auto& tensor : file->tensors())
    copy.add_tensor(tensor.name, tensor.type, tensor.shape, tensor.data);
  CHECK(copy.bytes() == bytes);
}

TEST_CASE("a tensor made while it is written equals one that was in memory") {
  const int64_t blocks = 80'000;  // more than two stretches
  const auto data = pattern(size_t(blocks) * 34, 3);
  gguf::Writer whole, made;
  for (gguf::Writer* w : {&whole, &made}) w->set("general.architecture", "test");
  whole.add_tensor("t", DType::q8_0, {32, blocks}, data);
  made.add_tensor("t", DType::q8_0, {32, blocks}, [&](uint64_t first_block, std::span<std::byte> out) {
    REQUIRE(out.size() % 34 == 0);
    std::ranges::copy(std::span(data).subspan(first_block * 34, out.size()), out.begin());
  });
  CHECK(made.bytes() == whole.bytes());
  const TempDir dir;
  const std::string path = (dir.path / "made.gguf").string();
  made.write(path);
  CHECK(std::ranges::equal(gguf::File::open(path)->part_bytes(0), whole.bytes()));
}

TEST_CASE("the bytes written are those of the format") {
  gguf::Writer w;
  w.set("k", uint32_t(7));
  w.add_tensor("t", DType::f32, {2}, pattern(8, 0));
  RawFile raw(1, 1);
  raw.key("k", RawFile::u32, uint32_t(7)).tensor("t", {2}, 0, 0).data(0);
  auto want = raw.bytes();
  const auto data = pattern(8, 0);
  want.insert(want.end(), data.begin(), data.end());
  want.resize((want.size() + 31) / 32 * 32);
  CHECK(w.bytes() == want);
}

TEST_CASE("a model in parts equals its twin in one file") {
  const TempDir dir;
  for (uint32_t alignment : {32u, 64u}) {
    const gguf::Writer w = sample(alignment);
    const auto bytes = w.bytes();
    const auto whole = gguf::File::parse(bytes, "whole");
    for (const std::vector<size_t>& counts : {std::vector<size_t>{2, 3}, {0, 4, 1}, {5}}) {
      const auto paths = w.write_parts((dir.path / "m").string(), counts);
      const auto split = gguf::File::open(paths[0]);
      CHECK(split->parts() == int(counts.size()));
      size_t total = 0;
      for (const auto& path : paths) total += fs::file_size(path);
      CHECK(split->file_bytes() == total);
      CHECK(split->get_string("general.architecture") == "test");
      REQUIRE(split->tensors().size() == whole->tensors().size());
      for (size_t i = 0; i < whole->tensors().size(); ++i) {
        const auto &a = whole->tensors()[i], &b = split->tensors()[i];
        CHECK(a.name == b.name);
        CHECK(a.type == b.type);
        CHECK(a.shape == b.shape);
        CHECK(std::ranges::equal(a.data, b.data));
        const auto part = split->part_bytes(b.part);
        CHECK(b.data.data() >= part.data());
        CHECK(b.data.data() + b.data.size() <= part.data() + part.size());
      }
    }
  }
}

TEST_CASE("split models with parts missing, misnamed or mixed up are refused") {
  const TempDir dir;
  const std::string prefix = (dir.path / "m").string();
  const gguf::Writer w = sample();
  const auto paths = w.write_parts(prefix, {2, 2, 1});
  const Refusal second = refusal_of([&] { gguf::File::open(paths[1]); });
  CHECK(contains(second.message, "is part 2 of 3, expected part 1"));
  CHECK(contains(second.hint, paths[0]));

  fs::copy_file(paths[0], dir.path / "plain.gguf");
  CHECK(contains(split_refusal((dir.path / "plain.gguf").string()),
                 "is part 1 of 3, expected a name ending in -00001-of-00003.gguf"));
  fs::copy_file(paths[0], dir.path / "m-00001-of-00004.gguf");
  CHECK(
      contains(split_refusal(prefix + "-00001-of-00004.gguf"), "its name says 4 parts, split.count says 3"));
  fs::copy_file(paths[1], dir.path / "n-00001-of-00003.gguf");
  CHECK(contains(split_refusal((dir.path / "n-00001-of-00003.gguf").string()),
                 "is part 2 of 3, expected part 1"));

  fs::copy_file(paths[1], paths[2], fs::copy_options::overwrite_existing);
  CHECK(contains(split_refusal(paths[0]), paths[2] + ": is part 2 of 3, expected part 3 of 3"));
  fs::remove(paths[2]);
  const Refusal missing = refusal_of([&] { gguf::File::open(paths[0]); });
  CHECK(missing.code == ErrorCode::io);
  CHECK(contains(missing.message, paths[2]));

  const auto raw_part = [&](int number, uint16_t no, uint16_t count, const char* tensor, int32_t tensors) {
    RawFile f(1, 3);
    f.key("split.no", RawFile::u16, no).key("split.count", RawFile::u16, count);
    f.key("split.tensors.count", RawFile::i32, tensors).tensor(tensor, {8}, 0, 0).data(32);
    gguf::write_file(fmt::format("{}-0000{}-of-00002.gguf", prefix, number), f.bytes());
  };
  const std::string first = prefix + "-00001-of-00002.gguf";
  raw_part(1, 0, 2, "same", 2);
  raw_part(2, 1, 2, "same", 2);
  CHECK(contains(split_refusal(first), "tensor 'same' is in part 1 and in part 2"));
  raw_part(2, 1, 2, "other", 2);
  CHECK_NOTHROW(gguf::File::open(first));
  raw_part(1, 0, 2, "same", 3);
  CHECK(contains(split_refusal(first), "all parts hold 2 tensors, split.tensors.count says 3"));
  raw_part(1, 2, 2, "same", 2);
  CHECK(contains(split_refusal(first), "split.no is 2 of split.count 2"));
  RawFile in_memory(0, 2);
  in_memory.key("split.no", RawFile::u16, uint16_t(0)).key("split.count", RawFile::u16, uint16_t(2));
  CHECK(contains(parse_refusal(in_memory.bytes()).message, "is part 1 of 2, expected a model in one part"));
}
