#pragma once
#include "backends/metal/metal_backend.h"
#include "ops/op_bench.h"

namespace minfer::test {

/// Whether this program runs kernels under the checker, slowly: use small shapes then.
extern const bool checked;

/// The Metal device of this machine, in software where it is no Mac.
inline Device metal_device() {
  return {"metal", [] { return make_metal_backend(); }};
}

}  // namespace minfer::test
