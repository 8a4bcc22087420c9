#include <metal_stdlib>
using namespace metal;

// Small kernels for the tests of the host classes. `EXPECT` comments name the line that a report must name.

struct Scale {
  float factor;
  uint count;
};

constant int repeat [[function_constant(0)]];
constant bool negate [[function_constant(1)]];

constant bool bias_wanted [[function_constant(2)]];
constant bool with_bias = is_function_constant_defined(bias_wanted) && bias_wanted;

kernel void add_bias(device uint* y [[buffer(0)]], device const uint* bias [[buffer(1), function_constant(with_bias)]],
                     uint i [[thread_position_in_grid]]) {
  y[i] += with_bias ? bias[i] : 1;
}

kernel void scale(constant Scale& args [[buffer(0)]], device const float* x [[buffer(1)]], device float* y [[buffer(2)]],
                  uint i [[thread_position_in_grid]]) {
  if (i < args.count) y[i] = x[i] * args.factor;
}

kernel void fill_index(device uint* y [[buffer(0)]], uint i [[thread_position_in_grid]]) { y[i] = i; }

kernel void add_one(device uint* y [[buffer(0)]], uint i [[thread_position_in_grid]]) { y[i] += 1; }

kernel void repeat_add(device int* y [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  for (int k = 0; k < repeat; k++) y[i] += negate ? -1 : 1;
}

kernel void reverse_in_group(device uint* y [[buffer(0)]], threadgroup uint* shared [[threadgroup(0)]],
                             uint i [[thread_index_in_threadgroup]], uint n [[threads_per_threadgroup]]) {
  shared[i] = y[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[i] = shared[n - 1 - i];
}

template <typename T, ushort COUNT>
kernel void reverse_own(device T* y [[buffer(0)]], threadgroup T* more [[threadgroup(0)]],
                        uint i [[thread_index_in_threadgroup]]) {
  constexpr ushort padded = COUNT + 1;
  using pair = vec<T, 2>;
  threadgroup T reverse_own[padded];  // may have the kernel's name
  threadgroup pair pairs[COUNT], unused;
  reverse_own[i] = y[i];
  more[i] = 0;
  pairs[i] = pair(y[i]);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[i] = reverse_own[COUNT - 1 - i] + pairs[COUNT - 1 - i].y;
}
template [[host_name("reverse_own_32")]] kernel void reverse_own<uint, 32>(device uint*, threadgroup uint*, uint);
template [[host_name("reverse_own_1024")]] kernel void reverse_own<uint, 1024>(device uint*, threadgroup uint*, uint);
template [[host_name("reverse_own_4096")]] kernel void reverse_own<uint, 4096>(device uint*, threadgroup uint*, uint);

kernel void two_arrays(device uint* y [[buffer(0)]], threadgroup uint* a [[threadgroup(0)]],
                       threadgroup uint* b [[threadgroup(1)]], uint i [[thread_index_in_threadgroup]]) {
  a[i] = i;
  b[i] = i;
  y[i] = a[i] + b[i];
}

[[max_total_threads_per_threadgroup(64)]] kernel void at_most_64(device uint* y [[buffer(0)]],
                                                                 uint i [[thread_position_in_grid]]) {
  y[i] = i;
}

kernel void write_group_count(device uint* y [[buffer(0)]]) {
  y[0] = 3;
  y[1] = 1;
  y[2] = 1;
}

kernel void count_threads(device atomic_uint* total [[buffer(0)]]) {
  atomic_fetch_add_explicit(total, 1u, memory_order_relaxed);
}

kernel void past_the_end(device uint* y [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  y[i + 1] = i;  // EXPECT past_the_end
}

kernel void racy_sum(device const float* x [[buffer(0)]], device float* total [[buffer(1)]],
                     uint i [[thread_position_in_grid]]) {
  total[0] += x[i];  // EXPECT racy_sum
}
