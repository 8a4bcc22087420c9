#include "quant/dtype.h"

#include <doctest/doctest.h>

using namespace minfer;

TEST_CASE("the table of types") {
  struct Row {
    DType type;
    const char* name;
    int id;
    int64_t elements, bytes;
  };
  // From the format's definition, not from quants.def.
  const Row rows[] = {
      {DType::f32, "F32", 0, 1, 4},        {DType::f16, "F16", 1, 1, 2},
      {DType::q4_0, "Q4_0", 2, 32, 18},    {DType::q4_1, "Q4_1", 3, 32, 20},
      {DType::q5_0, "Q5_0", 6, 32, 22},    {DType::q5_1, "Q5_1", 7, 32, 24},
      {DType::q8_0, "Q8_0", 8, 32, 34},    {DType::q4_k, "Q4_K", 12, 256, 144},
      {DType::q5_k, "Q5_K", 13, 256, 176}, {DType::q6_k, "Q6_K", 14, 256, 210},
      {DType::bf16, "BF16", 30, 1, 2},     {DType::i32, "I32", 26, 1, 4},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    CHECK(info(row.type).name == row.name);
    CHECK(info(row.type).gguf_id == row.id);
    CHECK(info(row.type).block_elements == row.elements);
    CHECK(info(row.type).block_bytes == row.bytes);
    if (row.type != DType::i32) CHECK(dtype_from_gguf(row.id) == row.type);
  }
}

TEST_CASE("types without a kernel have a name and no DType") {
  const std::pair<int, const char*> rows[] = {
      {4, "Q4_2"},   {5, "Q4_3"},      {10, "Q2_K"},     {20, "IQ4_NL"},     {26, "I32"},   {28, "F64"},
      {29, "IQ1_M"}, {31, "Q4_0_4_4"}, {33, "Q4_0_8_8"}, {36, "IQ4_NL_4_4"}, {39, "MXFP4"}, {40, "NVFP4"}};
  for (const auto& [id, name] : rows) {
    CHECK(gguf_type_name(id) == name);
    CHECK_FALSE(dtype_from_gguf(id).has_value());
  }
  for (int64_t id : {int64_t(-1), int64_t(43), int64_t(9999), int64_t(1) << 40}) {
    CHECK(gguf_type_name(id).empty());
    CHECK_FALSE(dtype_from_gguf(id).has_value());
  }
}

TEST_CASE("row bytes are 64-bit") { CHECK(row_bytes(DType::f32, int64_t(152064) * 3584) == 2179989504u); }
