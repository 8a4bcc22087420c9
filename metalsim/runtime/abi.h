/// What generated kernels and the metal_stdlib headers see of the runtime. Included by both sides, so it must
/// compile with clang 19 (kernels, C++17 and later) and g++ 12 (runtime).
#pragma once
#include "abi_arguments.h"
#include "abi_registry.h"
#include "abi_state.h"
