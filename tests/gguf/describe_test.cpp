#include "gguf/describe.h"

#include <doctest/doctest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "gguf/writer.h"
#include "refusal.h"

using namespace minfer;
using minfer::test::contains;

namespace {

std::shared_ptr<const gguf::File> file_of(const std::vector<std::byte>& bytes) {
  return gguf::File::parse(bytes, "m.gguf");
}

/// Values that a description can trip over.
std::vector<std::byte> awkward_file() {
  gguf::Writer w;
  w.set("name", std::string("a\"b\\\n\x1b[2J\xff\xc3\xa9\0z", 14));
  w.set("key\x07", uint64_t(18446744073709551615u));
  w.set("eps", 1e-6f);
  w.set("nan", std::nan(""));
  w.set("inf", float(INFINITY));
  w.set("yes", true);
  w.set("tokens", std::vector<std::string>(20, "tok"));
  w.set("none", std::vector<float>{});
  w.add_tensor("blk.0\x1b", DType::q8_0, {32, 2}, std::vector<std::byte>(68));
  w.add_tensor("norm", DType::f32, {3}, std::vector<std::byte>(12));
  return w.bytes();
}

}  // namespace

TEST_CASE("JSON holds every value, whatever the bytes") {
  const auto bytes = awkward_file();
  const auto json = nlohmann::json::parse(gguf::describe_json(*file_of(bytes)));
  CHECK(json["path"] == "m.gguf");
  CHECK(json["version"] == 3);
  CHECK(json["parts"] == 1);
  CHECK(json["bytes"] == bytes.size());
  CHECK(json["parameters"] == 67);
  const auto& metadata = json["metadata"];
  CHECK(metadata["name"] == std::string("a\"b\\\n\x1b[2J\xef\xbf\xbd\xc3\xa9\0z", 16));
  CHECK(metadata["key\x07"] == 18446744073709551615u);
  CHECK(metadata["eps"].get<float>() == 1e-6f);
  CHECK(metadata["nan"].is_null());
  CHECK(metadata["inf"].is_null());
  CHECK(metadata["yes"] == true);
  CHECK(metadata["tokens"].size() == 20);
  CHECK(metadata["none"].empty());
  REQUIRE(json["tensors"].size() == 2);
  const nlohmann::json want = {
      {"name", "blk.0\x1b"}, {"type", "Q8_0"}, {"shape", {32, 2}}, {"bytes", 68}, {"part", 0}};
  CHECK(json["tensors"][0] == want);
}

TEST_CASE("text is short and harmless to a terminal") {
  const auto bytes = awkward_file();
  const std::string text = gguf::describe_text(*file_of(bytes));
  for (char c : text) CHECK((c == '\n' || (uint8_t(c) >= 0x20 && c != 0x7f)));
  CHECK(contains(text, "m.gguf: GGUF version 3, 1 part, "));
  CHECK(contains(text, "key\\x07 = 18446744073709551615\n"));
  CHECK(contains(text, "eps = 1e-06\n"));
  CHECK(contains(text, "tokens = 20 x string [\"tok\", \"tok\""));
  CHECK(contains(text, ", ...]\n"));
  CHECK(contains(text, "none = 0 x f32 []\n"));
  CHECK(contains(text, "[32, 2] 68 bytes"));
  CHECK(contains(text, "67 parameters in 80 bytes"));
}
