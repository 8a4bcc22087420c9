// The 28 files of tests/data/gguf/cases: each is a well-formed file with one lie, as users met them.
#include <doctest/doctest.h>

#include "gguf/gguf.h"
#include "read_file.h"
#include "refusal.h"

using namespace minfer;
using namespace minfer::test;

namespace {

const std::string cases_dir = std::string(MINFER_TEST_DATA_DIR) + "/gguf/cases/";

struct Case {
  const char* file;
  ErrorCode code;
  const char* says;  // a part of the message besides the file's name
};

constexpr ErrorCode bad = ErrorCode::bad_model;

constexpr Case refused[] = {
    {"empty", bad, "not a GGUF file: it is empty"},
    {"magic_only", bad, "header: version needs 4 bytes at byte 4, file has 4"},
    {"hdr_only", bad, "tensor 1 of 1: name needs 8 bytes at byte 24, file has 24"},
    {"html", bad, "not a GGUF file (starts with `<!DOCTYPE html><`)"},
    {"bigendian", bad, "big-endian GGUF"},
    {"version_0", bad, "GGUF version is 0, expected 2 or 3"},
    {"version_1", bad, "GGUF version is 1, expected 2 or 3"},
    {"version_4", bad, "GGUF version is 4, expected 2 or 3"},
    {"version_4294967295", bad, "GGUF version is 4294967295, expected 2 or 3"},
    {"trunc_in_kv", bad, "key 1 of 2: name needs 20 bytes at byte 32, file has 40"},
    {"trunc_in_tinfo", bad, "file has 100"},
    {"trunc_data_1", bad, "tensor 't': needs 128 bytes at byte 160, file has 287"},
    {"trunc_data_half", bad, "tensor 't': needs 128 bytes at byte 160, file has 224"},
    {"size_gt_file", bad, "tensor 't': needs 33554432 bytes at byte 160, file has 288"},
    {"off_1T", bad, "tensor 't': data offset is 1099511627776, expected 0"},
    {"off_wrap", bad, "tensor 't': data offset is 18446744073709551584, expected 0"},
    {"off_unaligned", bad, "tensor 't': data offset is 4, expected 0"},
    {"overlap", bad, "tensor 'u': data offset is 32, expected 128 (tensor 't' ends there, padded to 32)"},
    {"align_0", bad, "key 'general.alignment': is 0, expected a power of two from 8 to 1048576"},
    {"align_24", bad, "key 'general.alignment': is 24, expected a power of two from 8 to 1048576"},
    {"align_2g", bad, "key 'general.alignment': is 2147483648, expected a power of two from 8 to 1048576"},
    {"type_39", ErrorCode::unsupported,
     "tensor 't': type 39 (MXFP4) not supported, expected one of F32, F16, Q4_0"},
    {"type_4_removed", ErrorCode::unsupported, "tensor 't': type 4 (Q4_2) not supported"},
    {"type_9999", ErrorCode::unsupported, "tensor 't': type 9999 (unknown) not supported"},
    {"type_neg", ErrorCode::unsupported, "tensor 't': type -1 (unknown) not supported"},
    {"q4k_row_not_256", bad, "tensor 't': rows of 896 values, expected a multiple of 256 for type Q4_K"},
};

}  // namespace

TEST_CASE("bad files are refused by name, from disk and from memory alike") {
  for (const Case& c : refused) {
    const std::string path = cases_dir + c.file + ".gguf";
    CAPTURE(path);
    const Refusal from_disk = refusal_of([&] { gguf::File::open(path); });
    CAPTURE(from_disk.message);
    CHECK(from_disk.code == c.code);
    CHECK(contains(from_disk.message, path + ": "));
    CHECK(contains(from_disk.message, c.says));
    CHECK_FALSE(contains(from_disk.message, "\n"));
    const auto bytes = read_data(std::string("gguf/cases/") + c.file + ".gguf");
    CHECK(parse_refusal(bytes, path).message == from_disk.message);
  }
  CHECK(contains(parse_refusal(read_data("gguf/cases/html.gguf")).hint, "web page"));
}

TEST_CASE("the good file and the one with trailing bytes open with the same content") {
  for (const char* name : {"ok", "trailing_junk"}) {
    const auto file = gguf::File::open(cases_dir + name + ".gguf");
    CAPTURE(name);
    CHECK(file->version() == 3);
    CHECK(file->parts() == 1);
    CHECK(file->get_string("general.architecture") == "llama");
    CHECK(file->get_int("general.alignment") == 32);
    REQUIRE(file->tensors().size() == 1);
    const gguf::TensorInfo* t = file->find_tensor("t");
    REQUIRE(t == &file->tensors()[0]);
    CHECK(t->type == DType::f32);
    CHECK(t->shape == std::vector<int64_t>{8, 4});
    CHECK(t->rows() == 4);
    REQUIRE(t->data.size() == 128);
    float values[32];
    std::memcpy(values, t->data.data(), sizeof values);
    for (int i = 0; i < 32; ++i) CHECK(values[i] == float(i));
    CHECK(file->part_bytes(0).size() == file->file_bytes());
    CHECK(reinterpret_cast<uintptr_t>(file->part_bytes(0).data()) % 4096 == 0);
    CHECK(file->find_tensor("u") == nullptr);
    CHECK(file->find("general.name") == nullptr);
  }
}
