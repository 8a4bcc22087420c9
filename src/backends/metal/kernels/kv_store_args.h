#pragma once
#ifndef __METAL__
#include <cstdint>
#endif

/// Rows of kv_dim values to cells of row_bytes.
struct KvStoreArgs {
  int32_t kv_dim;
  int32_t tokens_a_thread;  ///< all of them where two tokens name one cell: the later one must win
  uint32_t row_bytes;
};
