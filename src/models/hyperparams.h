#pragma once
#include "models/model.h"

namespace minfer {

/// Reads and checks the numbers of `file`'s architecture. Throws Error{bad_model} or Error{unsupported}
/// naming file, key, value found and value expected.
Hyperparams read_hyperparams(const gguf::File& file);

}  // namespace minfer
