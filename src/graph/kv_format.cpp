#include "graph/kv_format.h"

#include <fmt/format.h>

#include <string>

#include "base/error.h"

namespace minfer {

std::string_view name(KvFormat format) {
  switch (format) {
    case KvFormat::f32:
      return "f32";
    case KvFormat::f16:
      return "f16";
    case KvFormat::q8_0:
      return "q8_0";
  }
  return "unknown";
}

KvFormat kv_format_from_name(std::string_view wanted) {
  for (KvFormat format : {KvFormat::f32, KvFormat::f16, KvFormat::q8_0}) {
    if (name(format) == wanted) return format;
  }
  throw Error(ErrorCode::bad_request, fmt::format("KV format '{}': expected f32, f16 or q8_0", wanted),
              "set one of the three, in lower case");
}

size_t kv_row_bytes(KvFormat format, int64_t kv_dim) {
  if (format == KvFormat::f32) return size_t(kv_dim) * 4;
  if (format == KvFormat::f16) return size_t(kv_dim) * 2;
  const DTypeInfo& block = info(DType::q8_0);
  if (kv_dim % block.block_elements != 0) {
    throw Error(ErrorCode::unsupported,
                fmt::format("KV format q8_0: rows of {} values, expected a multiple of {}", kv_dim,
                            block.block_elements),
                "use f32 or f16 for this model");
  }
  const size_t bytes = row_bytes(DType::q8_0, kv_dim);
  return (bytes + 3) / 4 * 4;
}

}  // namespace minfer
