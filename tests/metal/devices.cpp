#include "metal/metal_device.h"

namespace minfer::test {

std::vector<Device> devices() { return {metal_device()}; }

}  // namespace minfer::test
