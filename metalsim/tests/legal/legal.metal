// Kernels that look suspicious and are right: the checker must be silent.
#include <metal_stdlib>
using namespace metal;

// Everyone reads one slot; one thread rewrites it, with a barrier on either side.
kernel void broadcast_and_rewrite(device float* y [[buffer(0)]], threadgroup float* s [[threadgroup(0)]],
                                  uint i [[thread_position_in_threadgroup]]) {
  if (i == 0) s[0] = 1;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float a = 0;
  for (uint k = 0; k < 8; k++) {
    a += s[0];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (i == k) s[0] += 1;
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  y[i] = a;
}

kernel void tree(device float* y [[buffer(0)]], threadgroup float* s [[threadgroup(0)]],
                 uint i [[thread_position_in_threadgroup]], uint n [[threads_per_threadgroup]]) {
  s[i] = i;
  for (uint d = n / 2; d > 0; d >>= 1) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (i < d) s[i] += s[i + d];
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[i] = s[0];
}

// Threads of one threadgroup exchange values through device memory.
kernel void device_exchange(device float* y [[buffer(0)]], uint i [[thread_position_in_threadgroup]],
                            uint n [[threads_per_threadgroup]]) {
  y[i] = i;
  threadgroup_barrier(mem_flags::mem_device);
  const float v = y[n - 1 - i];
  threadgroup_barrier(mem_flags::mem_device);
  y[i] = v;
}

// The same among the lanes of a simdgroup, with its own barrier.
kernel void device_exchange_in_simdgroup(device float* y [[buffer(0)]], uint i [[thread_position_in_threadgroup]]) {
  y[i] = i;
  simdgroup_barrier(mem_flags::mem_device);
  const float v = y[i ^ 1];
  simdgroup_barrier(mem_flags::mem_device);
  y[i] = v;
}

kernel void shared_in_simdgroup(device float* y [[buffer(0)]], threadgroup float* s [[threadgroup(0)]],
                                uint i [[thread_position_in_threadgroup]]) {
  for (uint k = 0; k < 3; k++) {
    s[i] = i + k;
    simdgroup_barrier(mem_flags::mem_threadgroup);
    y[i] = s[i ^ 1];
    simdgroup_barrier(mem_flags::mem_threadgroup);
  }
}

// One simdgroup leaves; the other goes on to reduce.
kernel void simdgroup_leaves(device float* y [[buffer(0)]], uint i [[thread_position_in_threadgroup]],
                             uint lane [[thread_index_in_simdgroup]]) {
  if (i >= 32) return;
  y[i] = simd_sum(float(lane));
}

// Lanes without work leave; the rest reduce among themselves.
kernel void lanes_leave(device float* y [[buffer(0)]], constant uint& n [[buffer(1)]],
                        uint i [[thread_position_in_grid]]) {
  if (i >= n) return;
  y[i] = simd_max(float(i));
}

kernel void surplus_threads_pass_the_barrier(device float* y [[buffer(0)]], threadgroup float* s [[threadgroup(0)]],
                                             constant uint& n [[buffer(1)]],
                                             uint i [[thread_position_in_threadgroup]]) {
  if (i < n) s[i] = i;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (i < n) y[i] = s[n - 1 - i];
}

kernel void count_atomically(device atomic_uint* counter [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  atomic_fetch_add_explicit(counter, i, memory_order_relaxed);
  atomic_fetch_max_explicit(counter + 1, i, memory_order_relaxed);
}

kernel void histogram(device uint* y [[buffer(0)]], uint i [[thread_position_in_threadgroup]]) {
  threadgroup atomic_uint bins[8];
  if (i < 8) atomic_store_explicit(&bins[i], 0u, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  atomic_fetch_add_explicit(&bins[i * 7 % 8], 1u, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (i < 8) y[i] = atomic_load_explicit(&bins[i], memory_order_relaxed);
}

// Neighbouring threads write halves and bytes of one word.
kernel void narrow_neighbours(device half* h [[buffer(0)]], device uchar* b [[buffer(1)]],
                              threadgroup half* s [[threadgroup(0)]], uint i [[thread_position_in_grid]],
                              uint t [[thread_position_in_threadgroup]]) {
  h[i] = half(i);
  b[i] = uchar(i);
  s[t] = half(t);
  h[i] += s[t];
}

kernel void update_own(device float* y [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  y[i] = y[i] * 2 + 1;
  y[i] += 1;
}

// Two buffers that are one: each thread reads and writes its own element.
kernel void in_place(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                     uint i [[thread_position_in_grid]]) {
  y[i] = x[i] + 1;
}

kernel void all_read_one(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                         uint i [[thread_position_in_grid]]) {
  y[i] = x[0] + x[63];
}

// Two halves of scratch, one written while the other is read: one barrier a step.
kernel void double_buffer(device float* y [[buffer(0)]], threadgroup float* s [[threadgroup(0)]],
                          uint i [[thread_position_in_threadgroup]], uint n [[threads_per_threadgroup]]) {
  float sum = 0;
  for (uint k = 0; k < 6; k++) {
    threadgroup float* half_of = s + (k & 1) * n;
    half_of[i] = i * k;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    sum += half_of[n - 1 - i];
  }
  y[i] = sum;
}

struct Pair {
  float value;
  int index;
};

kernel void array_of_structs(device float* y [[buffer(0)]], uint i [[thread_position_in_threadgroup]],
                             uint sg [[simdgroup_index_in_threadgroup]], uint lane [[thread_index_in_simdgroup]]) {
  threadgroup Pair best[2];
  const float v = float((i * 37) % 64);
  const float top = simd_max(v);
  if (v == top) best[sg] = Pair{v, int(i)};
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[i] = best[0].value > best[1].value ? best[0].index : best[1].index;
}

kernel void matrices(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                     threadgroup float* s [[threadgroup(0)]], uint i [[thread_position_in_threadgroup]]) {
  s[i] = x[i];
  s[i + 32] = x[i + 32];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  simdgroup_float8x8 a, b, c(0.0f);
  simdgroup_load(a, s, 8);
  simdgroup_load(b, x, 8, ulong2(0, 0), true);
  simdgroup_multiply_accumulate(c, a, b, c);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  simdgroup_store(c, s, 8);
  simdgroup_barrier(mem_flags::mem_threadgroup);
  y[i] = s[i] + s[63 - i];
}

// Simdgroups go different ways as a whole, through more operations than lanes are compared over at once; some lanes
// leave before pauses that order nothing.
kernel void ways_of_simdgroups(device float* y [[buffer(0)]], uint sg [[simdgroup_index_in_threadgroup]],
                               uint lane [[thread_index_in_simdgroup]], uint i [[thread_position_in_threadgroup]]) {
  simdgroup_float8x8 m(1.0f), sum(0.0f);
  for (uint k = 0; k < (sg == 0 ? 150 : 7); k++) {
    simdgroup_multiply_accumulate(sum, m, m, sum);
    if (sg == 1) simdgroup_barrier(mem_flags::mem_none);
  }
  threadgroup_barrier(mem_flags::mem_none);
  y[i] = simd_sum(1.0f);
  if (lane >= 20) return;
  for (uint k = 0; k < 40; k++) simdgroup_barrier(mem_flags::mem_none);
  y[i] += simd_sum(1.0f);
}

constant float table[8] = {1, 2, 4, 8, 16, 32, 64, 128};

kernel void table_and_own_memory(device float* y [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  float own[8];
  for (uint k = 0; k < 8; k++) own[k] = table[(k + i) & 7];
  thread float* p = own + (i & 3);
  p[1] += 1;
  float sum = 0;
  for (uint k = 0; k < 8; k++) sum += own[k];
  y[i] = sum;
}

// Hashing wraps on purpose; so do bytes that are cut from words.
kernel void wraps(device uint* y [[buffer(0)]], device uchar* b [[buffer(1)]], uint i [[thread_position_in_grid]]) {
  uint h = (i + 1) * 2654435761u;
  h ^= h >> 15;
  h *= 2246822519u;
  y[i] = h;
  b[i] = h;
}

kernel void write_all(device float* y [[buffer(0)]], uint i [[thread_position_in_grid]]) { y[i] = i; }

// The last threadgroup is smaller than the others.
kernel void uneven_grid(device float* y [[buffer(0)]], threadgroup float* s [[threadgroup(0)]],
                        uint i [[thread_position_in_grid]], uint t [[thread_position_in_threadgroup]],
                        uint n [[threads_per_threadgroup]]) {
  s[t] = i;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[i] = s[n - 1 - t] + simd_sum(1.0f);
}

// Simdgroups keep to their own part of scratch until the end.
kernel void private_parts(device float* y [[buffer(0)]], threadgroup float* s [[threadgroup(0)]],
                          uint lane [[thread_index_in_simdgroup]], uint sg [[simdgroup_index_in_threadgroup]],
                          uint i [[thread_position_in_threadgroup]]) {
  threadgroup float* own = s + sg * 32;
  float sum = 0;
  for (uint k = 0; k < sg + 2; k++) {  // simdgroups take different numbers of steps
    own[lane] = k + lane;
    simdgroup_barrier(mem_flags::mem_threadgroup);
    sum += own[31 - lane];
    simdgroup_barrier(mem_flags::mem_threadgroup);
  }
  own[lane] = sum;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[i] = s[lane] + s[32 + lane];
}
