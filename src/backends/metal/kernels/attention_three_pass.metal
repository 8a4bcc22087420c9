// Attention of many queries in three passes: scores, softmax, weighted sum. The plain form that the tiled kernel is
// compared with: a threadgroup of 256 threads takes one query of one head, and its scores lie in device memory.
#include <metal_stdlib>
using namespace metal;
#include "attention.h"
#include "attention_prefill_args.h"

constant constexpr int threads = 256;

// scores[row] = scale * q . k[row] for the rows that the query sees: a thread takes every 256th of them.
template <typename T>
kernel void three_pass_scores(constant ThreePassArgs& args [[buffer(0)]],
                              device const float* q [[buffer(1)]],
                              device const T* k [[buffer(2)]],
                              device const int* positions [[buffer(3)]],
                              device float* scores [[buffer(4)]],
                              uint3 tgpig [[threadgroup_position_in_grid]],  // x: query, y: head
                              ushort tiitg [[thread_index_in_threadgroup]]) {
  const int token = tgpig.x, head = tgpig.y;
  const int visible = positions[token] + 1, width4 = args.head_dim / 4;
  device const float4* query = (device const float4*)(q + ulong(token) * args.q_stride + head * args.head_dim);
  device const T* keys = k + head / args.heads_per_kv_head * args.head_dim;
  device float* own = scores + (ulong(tgpig.x) * args.heads + head) * args.n_ctx;
  for (int row = tiitg; row < visible; row += threads) {
    device const vec<T, 4>* key = (device const vec<T, 4>*)(keys + ulong(row) * args.kv_stride);
    float4 sum = 0.0f;
    for (int i = 0; i < width4; i++) sum += query[i] * float4(key[i]);
    own[row] = (sum.x + sum.y + sum.z + sum.w) * args.scale;
  }
}
template [[host_name("three_pass_scores_f32")]] kernel decltype(three_pass_scores<float>) three_pass_scores<float>;
template [[host_name("three_pass_scores_f16")]] kernel decltype(three_pass_scores<half>) three_pass_scores<half>;

// The largest or the sum of all threads' x.
template <bool LARGEST>
inline float reduce(float x, threadgroup float* partial, ushort lane, ushort simdgroup) {
  x = LARGEST ? simd_max(x) : simd_sum(x);
  threadgroup_barrier(mem_flags::mem_threadgroup);  // the reduction before this one has been read
  if (lane == 0) partial[simdgroup] = x;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  x = LARGEST ? masked_score : 0.0f;
  if (lane < threads / 32) x = partial[lane];
  return LARGEST ? simd_max(x) : simd_sum(x);
}

// scores = exp(scores - largest) / sum, over the rows that the query sees.
kernel void three_pass_softmax(constant ThreePassArgs& args [[buffer(0)]],
                               device const int* positions [[buffer(1)]],
                               device float* scores [[buffer(2)]],
                               uint3 tgpig [[threadgroup_position_in_grid]],  // x: query, y: head
                               ushort tiitg [[thread_index_in_threadgroup]],
                               ushort tiisg [[thread_index_in_simdgroup]],
                               ushort sgitg [[simdgroup_index_in_threadgroup]]) {
  threadgroup float partial[threads / 32];
  const int visible = positions[tgpig.x] + 1;
  device float* own = scores + (ulong(tgpig.x) * args.heads + tgpig.y) * args.n_ctx;

  float most = masked_score, total = 0.0f;
  for (int row = tiitg; row < visible; row += threads) most = max(most, own[row]);
  most = reduce<true>(most, partial, tiisg, sgitg);
  for (int row = tiitg; row < visible; row += threads) {
    const float weight = exp(own[row] - most);
    own[row] = weight;
    total += weight;
  }
  const float inverse = 1.0f / reduce<false>(total, partial, tiisg, sgitg);
  for (int row = tiitg; row < visible; row += threads) own[row] *= inverse;
}

// y = sum of scores[row] * v[row]. A thread takes four columns of every slices-th row, and the slices are added in
// order. Threads that no slice is left for only pass the barrier.
template <typename T>
kernel void three_pass_sums(constant ThreePassArgs& args [[buffer(0)]],
                            device const float* scores [[buffer(1)]],
                            device const T* v [[buffer(2)]],
                            device const int* positions [[buffer(3)]],
                            device float* y [[buffer(4)]],
                            uint3 tgpig [[threadgroup_position_in_grid]],  // x: query, y: head
                            ushort tiitg [[thread_index_in_threadgroup]]) {
  threadgroup float4 sums[threads];
  const int token = tgpig.x, head = tgpig.y;
  const int visible = positions[token] + 1, width4 = args.head_dim / 4;
  const int slices = threads / width4, slice = tiitg / width4, column = tiitg % width4;
  device const T* values = v + head / args.heads_per_kv_head * args.head_dim;
  device const float* own = scores + (ulong(tgpig.x) * args.heads + head) * args.n_ctx;

  float4 sum = 0.0f;
  if (slice < slices) {
    for (int row = slice; row < visible; row += slices)
      sum += own[row] * float4(((device const vec<T, 4>*)(values + ulong(row) * args.kv_stride))[column]);
  }
  sums[tiitg] = sum;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (slice == 0) {
    for (int i = 1; i < slices; i++) sum += sums[i * width4 + column];
    ((device float4*)(y + ulong(token) * args.y_stride + head * args.head_dim))[column] = sum;
  }
}
template [[host_name("three_pass_sums_f32")]] kernel decltype(three_pass_sums<float>) three_pass_sums<float>;
template [[host_name("three_pass_sums_f16")]] kernel decltype(three_pass_sums<half>) three_pass_sums<half>;
