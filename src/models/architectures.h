#pragma once
#include "models/model.h"

namespace minfer {

// One a file, listed once in registry.cpp.
extern const Architecture qwen2;
extern const Architecture qwen3;
extern const Architecture llama;

}  // namespace minfer
