#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gguf/gguf.h"

namespace minfer::gguf {

/// One file's content, checked; views point into the bytes it was parsed from.
struct Contents {
  uint32_t version = 0;
  std::vector<std::pair<std::string, Value>> metadata;
  std::vector<TensorInfo> tensors;
};

/// Reads and checks a whole file. `label` begins every message. Throws Error{bad_model}; allocates only in
/// proportion to bytes that are really there.
Contents parse_contents(std::span<const std::byte> bytes, const std::string& label);

}  // namespace minfer::gguf
