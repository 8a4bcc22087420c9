// Shared by kernels/kv_unpack.metal and the code that encodes it.
#pragma once

#ifndef __METAL__
#include <cstdint>
#endif

/// What a threadgroup unpacks.
enum { kv_unpack_rows = 8, kv_unpack_columns = 128, kv_unpack_columns_a_thread = 4 };

/// Rows 0 .. rows - 1 of `width` elements; packed ones are row_bytes long.
struct KvUnpackArgs {
  int32_t rows, width;
  uint32_t row_bytes;
};
