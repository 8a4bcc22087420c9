#pragma once
#include <string_view>

#include "base/error.h"
#include "quant/dtype.h"

namespace minfer::metal {

/// A weight type as kernel names spell it: "q4_k".
inline std::string_view kernel_term(DType type) {
  switch (type) {
#define QUANT(name, id, elements, bytes) \
  case DType::name:                      \
    return #name;
#include "quant/quants.def"
#undef QUANT
    case DType::i32:
      break;
  }
  MINFER_CHECK(false, "weights are of the types in quants.def");
}

}  // namespace minfer::metal
