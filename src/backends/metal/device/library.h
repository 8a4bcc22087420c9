#pragma once
#include <vector>

#include "backends/metal/device/metal_api.h"

namespace minfer::metal {

/// The kernels: of MINFER_METALLIB_FILE where set, else those built with minfer. Where Apple's compiler was
/// missing at build time that is a folder of sources, which are compiled now (0.3 to 1 s). Throws
/// Error{device} with the compiler's words.
std::vector<Ref<MTL::Library>> load_libraries(MTL::Device* device);

}  // namespace minfer::metal
