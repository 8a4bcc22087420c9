#pragma once
#include <memory>

#include "backends/backend.h"

namespace minfer {

/// An Apple GPU, or on Linux the software Metal device: every op but those that `supports` names, every
/// weight type, KV in f32, f16 and q8_0. `half_staging`: as MINFER_HALF_STAGING=1. Throws
/// Error{unsupported} if there is no device.
std::unique_ptr<Backend> make_metal_backend(bool half_staging = false);

}  // namespace minfer
