#include "backends/cpu/ops/attention_plan.h"

namespace minfer::cpu {

void VisibleRows::append(int64_t cell, int64_t length) {
  if (length == 0) return;
  rows += length;
  if (n_runs > 0) {
    Run& last = runs[size_t(n_runs - 1)];
    if (last.cell + last.length == cell) {
      last.length += length;
      return;
    }
  }
  runs[size_t(n_runs++)] = {cell, length};
}

bool VisibleRows::begins(const VisibleRows& longer) const {
  if (rows > longer.rows) return false;
  for (int i = 0; i < n_runs; ++i) {
    const Run &mine = runs[size_t(i)], &other = longer.runs[size_t(i)];
    const bool last = i + 1 == n_runs;
    const bool alike = last ? mine.cell == other.cell && mine.length <= other.length : mine == other;
    if (!alike) return false;
  }
  return true;
}

VisibleRows visible_rows(WindowKind kind, const int32_t* window, int64_t tokens, int64_t token) {
  VisibleRows visible;
  switch (kind) {
    case WindowKind::causal:
      visible.append(0, int64_t(window[token]) + 1);
      break;
    case WindowKind::ranges:
      visible.append(window[token], int64_t(window[tokens + token]) - window[token]);
      break;
    case WindowKind::runs:
      for (int64_t s = 0; s < max_window_runs; ++s) {
        const int32_t* pair = window + (token * max_window_runs + s) * 2;
        visible.append(pair[0], pair[1]);
      }
      break;
  }
  return visible;
}

void AttentionPlan::fill(WindowKind kind, const int32_t* window, int64_t tokens, int64_t most_block_tokens) {
  visible.clear();
  blocks.clear();
  for (int64_t t = 0; t < tokens; ++t) {
    visible.push_back(visible_rows(kind, window, tokens, t));
    const VisibleRows& added = visible.back();
    if (!blocks.empty() && blocks.back().tokens < most_block_tokens) {
      TokenBlock& block = blocks.back();
      const VisibleRows& widest = visible[size_t(block.widest)];
      const bool wider = widest.begins(added);
      if (wider || added.begins(widest)) {
        if (wider) block.widest = t;
        ++block.tokens;
        continue;
      }
    }
    blocks.push_back({t, 1, t});
  }
}

}  // namespace minfer::cpu
