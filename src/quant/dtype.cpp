#include "quant/dtype.h"

#include <array>

namespace minfer {
namespace {

// Every type number GGUF has given out, by its name there; an empty name was never used or has been
// withdrawn.
constexpr std::array<std::string_view, 41> gguf_names = {"F32",
                                                         "F16",
                                                         "Q4_0",
                                                         "Q4_1",
                                                         "Q4_2 (removed)",
                                                         "Q4_3 (removed)",
                                                         "Q5_0",
                                                         "Q5_1",
                                                         "Q8_0",
                                                         "Q8_1",
                                                         "Q2_K",
                                                         "Q3_K",
                                                         "Q4_K",
                                                         "Q5_K",
                                                         "Q6_K",
                                                         "Q8_K",
                                                         "IQ2_XXS",
                                                         "IQ2_XS",
                                                         "IQ3_XXS",
                                                         "IQ1_S",
                                                         "IQ4_NL",
                                                         "IQ3_S",
                                                         "IQ2_S",
                                                         "IQ4_XS",
                                                         "I8",
                                                         "I16",
                                                         "I32",
                                                         "I64",
                                                         "F64",
                                                         "IQ1_M",
                                                         "BF16",
                                                         "Q4_0_4_4 (removed)",
                                                         "Q4_0_4_8 (removed)",
                                                         "Q4_0_8_8 (removed)",
                                                         "TQ1_0",
                                                         "TQ2_0",
                                                         "IQ4_NL_4_4 (removed)",
                                                         "IQ4_NL_4_8 (removed)",
                                                         "IQ4_NL_8_8 (removed)",
                                                         "MXFP4",
                                                         "NVFP4"};

constexpr DTypeInfo types[] = {
#define QUANT(name, id, elements, bytes) {gguf_names[id], id, elements, bytes},
#include "quant/quants.def"
#undef QUANT
    {gguf_names[26], 26, 1, 4},
};

}  // namespace

const DTypeInfo& info(DType type) { return types[size_t(type)]; }

std::optional<DType> dtype_from_gguf(int64_t gguf_id) {
  for (size_t i = 0; i + 1 < std::size(types); ++i)
    if (types[i].gguf_id == gguf_id) return DType(i);
  return std::nullopt;
}

std::string_view gguf_type_name(int64_t gguf_id) {
  return gguf_id >= 0 && gguf_id < int64_t(gguf_names.size()) ? gguf_names[size_t(gguf_id)]
                                                              : std::string_view{};
}

}  // namespace minfer
