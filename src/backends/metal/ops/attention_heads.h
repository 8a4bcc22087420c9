#pragma once
#include <algorithm>

#include "backends/metal/ops/ops.h"

namespace minfer::metal {

/// How the query heads of each KV head are dealt to threadgroups, a simdgroup each.
struct HeadGroups {
  size_t heads_a_threadgroup;
  size_t threadgroups;  ///< for one token, over all KV heads
};

inline HeadGroups head_groups(const AttentionCall& call) {
  constexpr int64_t most_heads = 8;  // 256 threads: what the kernels promise to run with
  const int64_t group = call.op.n_heads / call.op.n_kv_heads;
  const int64_t shares = (group + most_heads - 1) / most_heads;
  const int64_t heads = (group + shares - 1) / shares;  // as equal as they can be
  return {size_t(heads), size_t(call.op.n_kv_heads * ((group + heads - 1) / heads))};
}

}  // namespace minfer::metal
