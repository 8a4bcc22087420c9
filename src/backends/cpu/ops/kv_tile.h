#pragma once
#include "backends/cpu/ops/attention_plan.h"
#include "backends/cpu/ops/ops.h"

namespace minfer::cpu {

/// Reads tiles of keys and values of one head as f32, whatever the region's format.
class KvReader {
 public:
  KvReader(const KernelTable& kernels, const KvPlace& kv, int64_t head_dim)
      : kernels_(&kernels), kv_(kv), head_dim_(head_dim) {}
  /// Floats that `load` may fill.
  size_t tile_floats() const { return size_t(2 * attn_tile_rows * tile_stride()); }
  /// Rows [begin, begin + rows) of the window for KV head `head`. f32 rows that lie together are used where
  /// they are; others are widened or gathered into `memory`.
  KvTile load(const VisibleRows& window, int64_t begin, int64_t rows, int64_t head, float* memory) const;
  /// Asks for the bytes that the same call of `load` would read: a head's part of each row is a few cache
  /// lines a whole row apart, which processors do not foresee.
  void prefetch(const VisibleRows& window, int64_t begin, int64_t rows, int64_t head) const;

 private:
  int64_t tile_stride() const;
  void load_row(const std::byte* row, int64_t head, float* to) const;

  const KernelTable* kernels_;
  KvPlace kv_;
  int64_t head_dim_;
};

}  // namespace minfer::cpu
