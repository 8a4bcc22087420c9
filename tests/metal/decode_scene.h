#pragma once
#include <cmath>
#include <functional>
#include <vector>

#include "backends/metal/ops/ops.h"
#include "graph/kv_format.h"

namespace minfer::test {

struct AttentionShape {
  int64_t n_heads, n_kv_heads, head_dim;
  int64_t width() const { return n_heads * head_dim; }
  int64_t kv_dim() const { return n_kv_heads * head_dim; }
};

/// Queries over rows of a region, as waves: q = 3 sin(1.7 i), k = 2 cos(0.9 i), v = 1.5 sin(0.4 i). The last
/// query sees all rows, each one before it a row less. Rows lie in the region as the host's own converters
/// write them, and cells that no query sees hold what would spoil a sum.
struct AttentionScene {
  AttentionShape shape;
  int64_t tokens, rows, n_ctx;
  KvFormat format;
  std::vector<float> q, k, v;
  std::vector<int32_t> positions;

  AttentionScene(AttentionShape s, KvFormat f, int64_t n_tokens, int64_t n_rows, int64_t spare = 3);
  float scale() const { return float(1.0 / std::sqrt(double(shape.head_dim))); }
  std::vector<std::byte> region(const std::vector<float>& rows_of) const;

  using Emit = std::function<void(metal::Encoder&, const metal::AttentionCall&)>;
  /// The result of one family's dispatches. `chunks` 0: its own choice.
  std::vector<float> run(const Emit& emit, int chunks = 0) const;
  /// The largest difference to a calculation in double over the rows as stored; NaN counts as infinite.
  double worst(const std::vector<float>& y) const;
};

}  // namespace minfer::test
