#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace minfer {

/// Element types: the eleven weight types of quants.def, and i32 for ids, positions, cells and windows.
enum class DType : uint8_t {
#define QUANT(name, id, elements, bytes) name,
#include "quant/quants.def"
#undef QUANT
  i32,
};

struct DTypeInfo {
  std::string_view name;   ///< as users write it: "Q4_K", "F16"
  int gguf_id;             ///< the type number in a GGUF tensor record
  int64_t block_elements;  ///< elements in one block; a row is a whole number of blocks
  int64_t block_bytes;     ///< bytes of one block in the file
};

const DTypeInfo& info(DType type);

/// The type with this GGUF number, or nothing if no code here reads it.
std::optional<DType> dtype_from_gguf(int64_t gguf_id);

/// The name GGUF gives a type number, also of types that minfer has no kernel for ("IQ4_NL"); empty if there
/// is none.
std::string_view gguf_type_name(int64_t gguf_id);

/// True for the eight block-quantised types.
constexpr bool is_quantised(DType type) {
  return type != DType::f32 && type != DType::f16 && type != DType::bf16 && type != DType::i32;
}

/// Bytes of a row of `elements` values; `elements` must be a multiple of the block.
inline size_t row_bytes(DType type, int64_t elements) {
  const DTypeInfo& t = info(type);
  return size_t(elements / t.block_elements) * size_t(t.block_bytes);
}

}  // namespace minfer
