#pragma once
#include "backends/metal/metal_backend.h"
#include "ops/op_bench.h"

namespace minfer::test {

#ifdef MINFER_METAL_CHECKED
inline constexpr bool checked = true;  ///< slow: use small shapes
#else
inline constexpr bool checked = false;
#endif

/// The Metal device of this machine, in software where it is no Mac.
inline Device metal_device() {
  return {"metal", [] { return make_metal_backend(); }};
}

}  // namespace minfer::test
