#pragma once
#ifndef __METAL__
#include <cstdint>
#endif

/// `tokens` rows of kv_dim values to cells of row_bytes.
struct KvStoreArgs {
  int32_t kv_dim, tokens;
  int32_t tokens_a_thread;  ///< more than one where two tokens name one cell: the later one must win
  uint32_t row_bytes;
};
