#include "ops/op_bench.h"

namespace minfer::test {

std::vector<Device> devices() { return {cpu_with(2)}; }

}  // namespace minfer::test
