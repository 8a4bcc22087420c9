#pragma once
#include <string>

#include "gguf/gguf.h"

namespace minfer::gguf {

/// For people: metadata (long arrays by count and first elements, long strings cut), tensors, totals. Nothing
/// in the file can act on a terminal.
std::string describe_text(const File& file);

/// The same as one JSON object, complete: {"path", "version", "parts", "bytes", "parameters", "metadata":
/// {key: value}, "tensors": [{"name", "type", "shape", "bytes", "part"}]}. Bytes that are no UTF-8 become
/// U+FFFD; numbers that JSON has no form for (NaN, infinities) become null.
std::string describe_json(const File& file);

}  // namespace minfer::gguf
