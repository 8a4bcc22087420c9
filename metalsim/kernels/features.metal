// One kernel or line for each feature of the language; tests/stdlib checks what they write.
#include <metal_stdlib>
#include "features.h"
using namespace metal;

constant float FC_scale [[function_constant(0)]];
constant bool FC_has_bias [[function_constant(1)]];
constant ushort FC_optional [[function_constant(2)]];
constant uint4 FC_vector [[function_constant(3)]];
constant bool optional_given = is_function_constant_defined(FC_optional);
constant ushort optional_or_seven = optional_given ? FC_optional : 7;
constant float doubled_scale = FC_scale * 2.0;

constant float table[4] = {1.f, 2.f, 4.f, 8.f};
constant constexpr int matrix_table[2][3] = {{1, 2, 3}, {4, 5, 6}};

namespace shapes {
constant float3 axis = float3(0.0f, 1.0f, 0.0f);
struct packed_pair {
  packed_float3 p;
  float w;
};
}  // namespace shapes

template <typename T, int N>
inline T sum_n(thread const T* p) {
  T s = 0;
#pragma unroll
  for (int i = 0; i < N; i++) s += p[i];
  return s;
}

// out[i] for each line that says so.
kernel void constants_and_tables(device float* out [[buffer(0)]],
                                 device const float* bias [[buffer(1), function_constant(FC_has_bias)]],
                                 uint tid [[thread_position_in_grid]]) {
  if (tid != 0) return;
  out[0] = FC_scale;
  out[1] = FC_has_bias ? bias[0] : -1.0f;
  out[2] = optional_given;
  out[3] = optional_or_seven;
  out[4] = doubled_scale;
  out[5] = FC_vector.w + FC_vector.x;
  out[6] = table[3];
  out[7] = matrix_table[1][2];
  out[8] = shapes::axis.y;
  out[9] = header_table[2];  // from the included file
  out[10] = is_function_constant_defined(FC_scale);
}

kernel void vectors(device float* out [[buffer(0)]],
                    device const shapes::packed_pair* pairs [[buffer(1)]],
                    uint tid [[thread_position_in_grid]]) {
  if (tid != 0) return;
  float4 a = float4(1.f, 2.f, 3.f, 4.f), b(2.f);
  a.xy = b.zw + a.yx;  // (4, 3, 3, 4)
  half4 h = half4(a);
  h *= 0.5h;
  float3 v = pairs[0].p;
  v.yz = float2(7.f);
  const float loc[4] = {a.x, a[1], a.z, a.w};
  const uchar4 q = uchar4(0x12, 0x34, 0x56, 0x78);
  const uint4 low = uint4(q & uchar4(0xF)), high = uint4(q >> 4);
  out[0] = dot(a, (float4)h);
  out[1] = v.x + v.y + v.z;
  out[2] = as_type<uint>(1.0f);
  out[3] = sum_n<float, 4>(loc);
  out[4] = low.x + high.w;
  out[5] = select(int4(1), int4(2), low.x > 1).x;
  out[6] = sizeof(float3) + sizeof(packed_float3);
  out[7] = clamp(5.f, 0.f, 3.f) + rsqrt(4.f) + exp2(3.f) + float(popcount(7u));
  out[8] = metal::max(float4(1, 5, 2, 3), 2.5).rgba.b + metal::float2(3).y;
  bfloat narrow = bfloat(1.0 + 1.0 / 512);
  out[9] = float(narrow) + 2.0bf;
}

struct tile_row {
  float values[4];
  half2 pair;
};

// Threadgroup variables of every kind, in a template.
template <typename T, ushort COUNT>
[[kernel]] [[max_total_threads_per_threadgroup(COUNT)]] void reversed(device T* out [[buffer(0)]],
                                                                      device const T* in [[buffer(1)]],
                                                                      ushort tid [[thread_index_in_threadgroup]]) {
  threadgroup T line[COUNT], twice[2][COUNT];
  threadgroup tile_row rows[4];
  threadgroup atomic_uint count;
  line[tid] = in[tid];
  twice[tid & 1][tid] = in[tid] * T(2);
  if (tid < 4) rows[tid].values[tid] = tid;
  if (tid == 0) atomic_store_explicit(&count, 0u, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const ushort other = COUNT - 1 - tid;
  const T whole = T(atomic_load_explicit(&count, memory_order_relaxed));
  out[tid] = line[other] + twice[other & 1][other] + T(rows[other & 3].values[other & 3]) + whole;
}
template [[host_name("reversed_float_64")]] [[kernel]] decltype(reversed<float, 64>) reversed<float, 64>;
template [[host_name("reversed_int_32")]] kernel void reversed<int, 32>(device int* out [[buffer(0)]],
                                                                      device const int* in [[buffer(1)]],
                                                                      ushort tid [[thread_index_in_threadgroup]]);

kernel void positions(device uint* out [[buffer(0)]],
                      uint3 tpig [[thread_position_in_grid]],
                      ushort3 tpitg [[thread_position_in_threadgroup]],
                      uint2 tgpig [[threadgroup_position_in_grid]],
                      uint3 ntg [[threads_per_threadgroup]],
                      uint3 ntgpg [[threadgroups_per_grid]],
                      uint3 tpg [[threads_per_grid]],
                      uint tiitg [[thread_index_in_threadgroup]],
                      ushort tiisg [[thread_index_in_simdgroup]],
                      ushort sgitg [[simdgroup_index_in_threadgroup]],
                      ushort nsg [[simdgroups_per_threadgroup]],
                      ushort width [[threads_per_simdgroup]],
                      ushort tiqg [[thread_index_in_quadgroup]],
                      ushort qgitg [[quadgroup_index_in_threadgroup]]) {
  device uint* row = out + (tpig.x + tpig.y * tpg.x) * POSITION_VALUES;
  row[0] = tpig.x;
  row[1] = tpig.y;
  row[2] = tpitg.x;
  row[3] = tpitg.y;
  row[4] = tgpig.x;
  row[5] = tgpig.y;
  row[6] = ntg.x * 100 + ntg.y;
  row[7] = ntgpg.x * 100 + ntgpg.y;
  row[8] = tpg.x * 100 + tpg.y;
  row[9] = tiitg;
  row[10] = tiisg;
  row[11] = sgitg;
  row[12] = nsg * 100 + width;
  row[13] = tiqg;
  row[14] = qgitg;
}
