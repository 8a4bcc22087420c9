#pragma once
#include <variant>

#include "graph/ops/add.h"
#include "graph/ops/attention.h"
#include "graph/ops/fused_ffn.h"
#include "graph/ops/fused_qkv.h"
#include "graph/ops/get_rows.h"
#include "graph/ops/input.h"
#include "graph/ops/kv.h"
#include "graph/ops/matmul.h"
#include "graph/ops/mul.h"
#include "graph/ops/qk_norm.h"
#include "graph/ops/rms_norm.h"
#include "graph/ops/rope.h"
#include "graph/ops/scale.h"
#include "graph/ops/shape.h"
#include "graph/ops/silu.h"
#include "graph/ops/softmax.h"
#include "graph/ops/swiglu.h"

/// The ops: plain payloads with full equality. Positions, cells and windows are data and arrive through Input
/// nodes; weights are named, and the executing backend resolves the name.
namespace minfer {

namespace detail {
template <class First, class... Ops>
struct OpVariant {  // First only opens the list, so that each line of ops.def can begin with a comma
  using type = std::variant<Ops...>;
};
}  // namespace detail

using Op = detail::OpVariant<void
#define OP(Name) , Name
#include "graph/ops/ops.def"
#undef OP
                             >::type;

}  // namespace minfer
