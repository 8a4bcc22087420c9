// Shared by kernels/kv_unpack.metal and the code that encodes it.
#pragma once

#ifndef __METAL__
#include <cstdint>
namespace minfer::metal {
#endif

/// What a threadgroup unpacks: four columns a thread.
enum { kv_unpack_rows = 8, kv_unpack_columns = 128 };

/// Rows 0 .. rows - 1 of `width` elements; packed ones are row_bytes long.
struct kv_unpack_args {
  int32_t rows, width;
  uint32_t row_bytes;
};

#ifndef __METAL__
}  // namespace minfer::metal
#endif
