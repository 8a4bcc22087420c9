#include <algorithm>

#include "ops/op_bench.h"

namespace minfer::test {

std::vector<Device> devices_that_run(const std::vector<Op>& ops) {
  std::vector<Device> able;
  for (const Device& device : devices()) {
    const std::unique_ptr<Backend> backend = device.make();
    const bool all = std::all_of(ops.begin(), ops.end(), [&](const Op& op) {
      Node node;
      node.op = op;
      return backend->supports(node).ok;
    });
    if (all) able.push_back(device);
  }
  return able;
}

}  // namespace minfer::test
