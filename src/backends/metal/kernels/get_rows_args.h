// Of the get_rows kernels; read by kernels and host.
#pragma once
#ifndef __METAL__
#include <cstdint>
#endif

/// Rows of `cols` values, in the table `row_bytes` apart.
struct GetRowsArgs {
  int32_t cols;
  uint32_t row_bytes;
};
