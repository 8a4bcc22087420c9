// Touches memory that the device has not seen yet.
#include <metal_stdlib>
#include "warm_up_args.h"
using namespace metal;

// One thread a page: reads its first byte. The sum of a group goes out, so that no read can be left away.
kernel void warm_up(constant WarmUpArgs& args [[buffer(0)]],
                    device const uchar* memory [[buffer(1)]],
                    device uint* sums [[buffer(2)]],
                    uint page [[thread_position_in_grid]],
                    uint group [[threadgroup_position_in_grid]],
                    ushort lane [[thread_index_in_simdgroup]]) {
  const uint value = page < args.pages ? uint(memory[ulong(page) * args.page_bytes]) : 0u;
  const uint sum = simd_sum(value);
  if (lane == 0) sums[group] = sum;
}
