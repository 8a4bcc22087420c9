#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "quant/dtype.h"

namespace minfer {

/// How keys and values are stored. One format an engine; two engines may differ.
enum class KvFormat : uint8_t { f32, f16, q8_0 };

std::string_view name(KvFormat format);
/// Case-sensitive. Throws Error{bad_request} listing the formats.
KvFormat kv_format_from_name(std::string_view name);

/// Bytes of one cell's K (or V) row of `kv_dim` elements: 4 or 2 bytes an element, or 34-byte blocks of 32
/// elements padded to a multiple of 4 bytes. Throws Error{unsupported} if q8_0 meets a kv_dim that is no
/// multiple of 32.
size_t kv_row_bytes(KvFormat format, int64_t kv_dim);

}  // namespace minfer
