#include "quant/dtype.h"

#include <array>
#include <iterator>

namespace minfer {
namespace {

// Indexed by the type number of a tensor record. Numbers that the format gave up keep their names: old files
// that use them deserve a diagnosis.
constexpr std::string_view gguf_names[] = {
    "F32",      "F16",      "Q4_0",    "Q4_1",  "Q4_2",       "Q4_3",       "Q5_0",       "Q5_1",
    "Q8_0",     "Q8_1",     "Q2_K",    "Q3_K",  "Q4_K",       "Q5_K",       "Q6_K",       "Q8_K",
    "IQ2_XXS",  "IQ2_XS",   "IQ3_XXS", "IQ1_S", "IQ4_NL",     "IQ3_S",      "IQ2_S",      "IQ4_XS",
    "I8",       "I16",      "I32",     "I64",   "F64",        "IQ1_M",      "BF16",       "Q4_0_4_4",
    "Q4_0_4_8", "Q4_0_8_8", "TQ1_0",   "TQ2_0", "IQ4_NL_4_4", "IQ4_NL_4_8", "IQ4_NL_8_8", "MXFP4",
    "NVFP4",    "Q1_0",     "Q2_0",
};

constexpr int i32_gguf_id = 26;

constexpr DTypeInfo table[] = {
#define QUANT(name, id, elements, bytes) {gguf_names[id], id, elements, bytes},
#include "quant/quants.def"
#undef QUANT
    {gguf_names[i32_gguf_id], i32_gguf_id, 1, 4},
};
static_assert(std::size(table) == size_t(DType::i32) + 1);

}  // namespace

const DTypeInfo& info(DType type) { return table[size_t(type)]; }

std::optional<DType> dtype_from_gguf(int64_t gguf_id) {
  // Tensors of i32 exist inside the graph only; no kernel reads one from a file.
  for (size_t i = 0; i < size_t(DType::i32); ++i)
    if (table[i].gguf_id == gguf_id) return DType(i);
  return std::nullopt;
}

std::string_view gguf_type_name(int64_t gguf_id) {
  if (gguf_id < 0 || gguf_id >= std::ssize(gguf_names)) return {};
  return gguf_names[gguf_id];
}

}  // namespace minfer
