#include "metal/metal_device.h"

namespace minfer::test {

/// Every op on every device of this build in one program; under the checker the one that it checks.
std::vector<Device> devices() {
  if (checked) return {metal_device()};
  return {cpu_with(2), metal_device()};
}

}  // namespace minfer::test
