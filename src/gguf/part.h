#pragma once
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gguf/gguf.h"

namespace minfer::gguf {

using Metadata = std::vector<std::pair<std::string, Value>>;

/// One file of a model, read and checked. Views point into the bytes it was read from.
struct Part {
  uint32_t version;
  Metadata metadata;
  std::vector<TensorInfo> tensors;
};

/// Bytes of one element in the file; 0 for strings and arrays, whose size varies.
size_t element_size(ValueType type);

/// Reads one file of a model. `part_index` is stored in its tensors. Throws Error{bad_model} or, for a tensor
/// type without a kernel, Error{unsupported}. Bytes after the last tensor are warned about and ignored.
Part parse_part(std::span<const std::byte> bytes, const std::string& label, int part_index);

constexpr uint32_t default_alignment = 32;

}  // namespace minfer::gguf
