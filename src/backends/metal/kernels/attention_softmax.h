#pragma once
#include "attention.h"

// Attention of one query head over KV rows by one simdgroup, with the softmax computed as it goes.
//
// The simdgroup is cut into slots of `lanes` lanes. A slot takes a row at a time and keeps a softmax of its
// own: maximum m, sum s and weighted sum o of what it has seen. A lane of it holds every `lanes`-th group of
// four values of q and o in registers. So a score costs log2(lanes) shuffles, a row of V none, and neither
// needs threadgroup memory; the slots are merged once, when all rows are read. Lanes of a slot read
// neighbouring groups, so that a load of the simdgroup is whole pieces of 16 * lanes bytes (f32) from
// neighbouring rows.
//
// Scores are in units of log2: q is scaled by scale * log2(e), and exp2 is the instruction that there is.

constant constexpr float log2_e = 1.44269504088896341f;

template <int lanes, int groups>
struct SoftmaxState {
  float4 q[groups];
  float4 o[groups];
  float m, s;
};

/// q, and nothing seen. A head has `width4` groups of four values; lanes beyond them hold zeros.
template <int lanes, int groups>
inline void start_softmax(thread SoftmaxState<lanes, groups>& state, device const float4* q, int width4,
                          float scale, int lane) {
  for (int i = 0; i < groups; i++) {
    const int group = lane % lanes + lanes * i;
    state.q[i] = group < width4 ? q[group] * (scale * log2_e) : float4(0.0f);
    state.o[i] = float4(0.0f);
  }
  state.m = masked_score;
  state.s = 0.0f;
}

/// Takes in `rows_a_slot` rows a slot: 32 / lanes * rows_a_slot rows from `first` on, of which those before
/// `end` count. The others are read as row end - 1, which must exist. `keys` and `values` give four values of
/// a row at a time.
template <int rows_a_slot, int lanes, int groups, class Rows>
inline void attend_rows(thread SoftmaxState<lanes, groups>& state, thread const Rows& keys,
                        thread const Rows& values, int first, int end, int width4, int lane) {
  constexpr int slots = 32 / lanes;
  const int slot = lane / lanes, part = lane % lanes;
  float score[rows_a_slot];
  float most = state.m;
  for (int i = 0; i < rows_a_slot; i++) {
    const int row = first + i * slots + slot, known = min(row, end - 1);
    float sum = 0.0f;
    for (int j = 0; j < groups; j++) {
      const int group = part + lanes * j;
      if (group < width4) sum += dot(state.q[j], keys.load4(known, group));
    }
    for (ushort distance = lanes / 2; distance > 0; distance /= 2) sum += simd_shuffle_xor(sum, distance);
    score[i] = row < end ? sum : masked_score;
    most = max(most, score[i]);
  }

  const float fade = exp2(state.m - most);
  state.m = most;
  state.s *= fade;
  for (int j = 0; j < groups; j++) state.o[j] *= fade;
  for (int i = 0; i < rows_a_slot; i++) {
    const int known = min(first + i * slots + slot, end - 1);
    const float weight = exp2(score[i] - most);  // 0 of a masked row, once the slot has seen another
    state.s += weight;
    for (int j = 0; j < groups; j++) {
      const int group = part + lanes * j;
      if (group < width4) state.o[j] += weight * values.load4(known, group);
    }
  }
}

/// One softmax of all slots, in the lanes of slot 0. What a slot without rows has gathered fades to nothing
/// beside one with rows.
template <int lanes, int groups>
inline void merge_slots(thread SoftmaxState<lanes, groups>& state) {
  for (ushort distance = lanes; distance < 32; distance *= 2) {
    const float other_m = simd_shuffle_xor(state.m, distance), other_s = simd_shuffle_xor(state.s, distance);
    const float most = max(state.m, other_m);
    const float mine = exp2(state.m - most), other = exp2(other_m - most);
    state.s = state.s * mine + other_s * other;
    for (int j = 0; j < groups; j++) {
      state.o[j] = state.o[j] * mine + simd_shuffle_xor(state.o[j], distance) * other;
    }
    state.m = most;
  }
}

/// Rows of a region, from one KV head's first column on.
template <class Format>
struct RegionRows {
  device const uchar* region;
  uint row_bytes;
  int column;
  float4 load4(int row, int group) const {
    return Format::load4(region + ulong(row) * row_bytes, column + group * 4);
  }
};

/// Rows [first, ...) staged in threadgroup memory, width4 groups each.
struct TileRows {
  threadgroup const float4* tile;
  int first, width4;
  float4 load4(int row, int group) const { return tile[(row - first) * width4 + group]; }
};

/// Rows of a tile; two tiles of them, K and V, fill 32 KiB with heads of 256.
constant constexpr int staged_rows = 16;

/// Rows [begin, end) by way of threadgroup memory: every head of the threadgroup reads what all of it staged.
/// Every thread must come here, with the same begin and end. `tiles`: 2 * staged_rows * width4.
template <int lanes, int groups, class Rows>
inline void attend_staged(thread SoftmaxState<lanes, groups>& state, thread const Rows& keys,
                          thread const Rows& values, threadgroup float4* tiles, int begin, int end,
                          int width4, int thread_index, int threads, int lane) {
  threadgroup float4* key_tile = tiles;
  threadgroup float4* value_tile = tiles + staged_rows * width4;
  for (int first = begin; first < end; first += staged_rows) {
    const int rows = min(staged_rows, end - first);
    for (int i = thread_index; i < rows * width4; i += threads) {
      key_tile[i] = keys.load4(first + i / width4, i % width4);
      value_tile[i] = values.load4(first + i / width4, i % width4);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    const TileRows staged_keys{key_tile, first, width4};
    const TileRows staged_values{value_tile, first, width4};
    attend_rows<staged_rows * lanes / 32>(state, staged_keys, staged_values, first, first + rows, width4,
                                          lane);
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
}
