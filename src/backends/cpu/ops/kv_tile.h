#pragma once
#include "backends/cpu/ops/attention_plan.h"
#include "backends/cpu/ops/ops.h"

namespace minfer::cpu {

/// Reads tiles of keys and values of one head, whatever the region's format.
class KvReader {
 public:
  KvReader(const KernelTable& kernels, const KvPlace& kv, int64_t head_dim)
      : kernels_(&kernels), kv_(kv), head_dim_(head_dim) {}
  /// Floats that `load` may fill.
  size_t tile_floats() const { return size_t(2 * attn_tile_rows * tile_stride()); }
  /// Rows [begin, begin + rows) of the window for KV head `head`. For few queries, rows that lie together are
  /// used where they are; if `wide`, and otherwise, they are widened and packed into `memory`: rows of a
  /// region may be so far apart that they push each other out of the cache.
  KvTile load(const VisibleRows& window, int64_t begin, int64_t rows, int64_t head, bool wide,
              float* memory) const;

 private:
  bool in_place() const;
  size_t head_offset(int64_t head) const;
  int64_t tile_stride() const;
  void load_row(const std::byte* row, int64_t head, float* to) const;
  void fetch(const std::byte* row, int64_t head) const;

  const KernelTable* kernels_;
  KvPlace kv_;
  int64_t head_dim_;
};

}  // namespace minfer::cpu
