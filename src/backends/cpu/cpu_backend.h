#pragma once
#include <memory>

#include "backends/backend.h"

namespace minfer {

/// The CPU: every op, every weight type, KV in f32, f16 and q8_0. Weights are used where they are mapped.
/// `threads` >= 1; results do not depend on it.
std::unique_ptr<Backend> make_cpu_backend(int threads);

}  // namespace minfer
