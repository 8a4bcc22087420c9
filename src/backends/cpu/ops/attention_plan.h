#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "graph/ops.h"

namespace minfer::cpu {

/// The KV rows one query sees, in reading order: row j of the window is a cell.
struct VisibleRows {
  struct Run {
    int64_t cell, length;
    bool operator==(const Run&) const = default;
  };
  std::array<Run, max_window_runs> runs;  ///< neighbours joined, none empty
  int n_runs = 0;
  int64_t rows = 0;

  void append(int64_t cell, int64_t length);
  /// Whether this window is the beginning of `longer`.
  bool begins(const VisibleRows& longer) const;
};

/// Consecutive tokens whose windows begin alike: they share every tile of keys and values.
struct TokenBlock {
  int64_t first, tokens;
  int64_t widest;  ///< the token that sees the most rows; every other window begins it
};

/// What a window says of one run's tokens, computed once for all layers.
struct AttentionPlan {
  std::vector<VisibleRows> visible;  ///< of each token
  std::vector<TokenBlock> blocks;

  /// `window` as the WindowKind lays it out, or the positions if causal.
  void fill(WindowKind kind, const int32_t* window, int64_t tokens, int64_t most_block_tokens);
};

VisibleRows visible_rows(WindowKind kind, const int32_t* window, int64_t tokens, int64_t token);

}  // namespace minfer::cpu
