// Matrix-vector products of Q4_K and Q5_K: eight lanes share a block of 256 values, so that four of a row's
// blocks are in flight.
//
// A block has four groups of 64 values, each of two sub-blocks that share 32 bytes. A lane has eight bytes of
// group `pair` (0 or 1) and eight of group pair + 2: the scales and minima of the latter are packed around
// those of the former, and the fifth bits of all lie in the same eight bytes.
#include "matvec.h"
#include "nibbles.h"

// [sub-block]: first of group `pair`, second of it, first of group pair + 2, second of it
struct KWeights {
  float4 q[4][2];
  float4 scale, min;
};
struct KInputs {
  float4 x[4][2];
  float4 sum;
};

// Which share of a block a lane has.
struct KShare {
  short pair, first;  // its bytes begin at `first` in a group's 32
  KShare(short part) : pair(part / 4), first(part % 4 * 8) {}
};

// Two bytes each.
inline float4 four_bytes(ushort a, ushort b) { return float4(a & 0xFF, a >> 8, b & 0xFF, b >> 8); }

// Twelve bytes hold the scales and minima of six bits. Those of the first two groups are plain, two bytes a
// group; those of the last two are split: four bits in bytes 8 to 11, two bits on top of the plain ones.
template <class Block>
inline void read_scales(device const Block& block, short pair, thread KWeights& w) {
  device const ushort* packed = (device const ushort*)block.scales;
  const ushort scales = packed[pair], mins = packed[pair + 2], split = packed[pair + 4];
  w.scale = float(block.d) * four_bytes(scales & 0x3F3F, (split & 0x0F0F) | ((scales & 0xC0C0) >> 2));
  w.min = float(block.dmin) * four_bytes(mins & 0x3F3F, ((split >> 4) & 0x0F0F) | ((mins & 0xC0C0) >> 2));
}

inline KInputs k_inputs(device const float* x, short part) {
  const KShare share(part);
  device const float4* x4 = (device const float4*)(x + share.pair * 64 + share.first);
  KInputs in;
#pragma unroll
  for (short j = 0; j < 4; j++) {
    device const float4* at = x4 + j / 2 * 32 + j % 2 * 8;
    const bool low = j % 2 == 0;
    const float4 places = low ? low_places : high_places, inverse = low ? low_inverse : high_inverse;
    in.x[j][0] = at[0] * inverse;
    in.x[j][1] = at[1] * inverse;
    in.sum[j] = chain(places, in.x[j][1], chain(places, in.x[j][0], 0.0f));
  }
  return in;
}

inline float k_add(thread const KWeights& w, thread const KInputs& in, float sum) {
#pragma unroll
  for (short j = 0; j < 4; j++) {
    const float dot = chain(w.q[j][1], in.x[j][1], chain(w.q[j][0], in.x[j][0], 0.0f));
    sum = fma(w.scale[j], dot, sum);
    sum = fma(-w.min[j], in.sum[j], sum);
  }
  return sum;
}

// x[e] = d * scale * q - dmin * min, q of four bits
struct MatvecQ4_K {
  enum : short { elements = 256, lanes = 8, rows = matvec_k_rows, simdgroups = matvec_k_simdgroups };
  typedef BlockQ4_K Block;
  typedef KWeights Weights;
  typedef KInputs Inputs;

  static Weights decode(device const Block& block, short part) {
    const KShare share(part);
    Weights w;
    read_scales(block, share.pair, w);
#pragma unroll
    for (short i = 0; i < 2; i++) {
      const ushort4 q = load_bytes8(block.qs + (share.pair + i * 2) * 32 + share.first);
      w.q[i * 2][0] = low_nibbles(q.xy);
      w.q[i * 2][1] = low_nibbles(q.zw);
      w.q[i * 2 + 1][0] = high_nibbles(q.xy);
      w.q[i * 2 + 1][1] = high_nibbles(q.zw);
    }
    return w;
  }
  static Inputs inputs(device const float* x, short part) { return k_inputs(x, part); }
  static float add(thread const Weights& w, thread const Inputs& in, float sum) { return k_add(w, in, sum); }
};

// The same with q of five bits: those of group g are bits 2g and 2g + 1 of 32 bytes.
struct MatvecQ5_K {
  enum : short { elements = 256, lanes = 8, rows = matvec_k_rows, simdgroups = matvec_k_simdgroups };
  typedef BlockQ5_K Block;
  typedef KWeights Weights;
  typedef KInputs Inputs;

  static Weights decode(device const Block& block, short part) {
    const KShare share(part);
    const int4 fifth = int4(load_bytes8(block.qh + share.first)) >> (2 * share.pair);
    const int4 low_bits = int4(0x001, 0x100, 0x001, 0x100), high_bits = int4(0x002, 0x200, 0x002, 0x200);
    Weights w;
    read_scales(block, share.pair, w);
#pragma unroll
    for (short i = 0; i < 2; i++) {
      const ushort4 q = load_bytes8(block.qs + (share.pair + i * 2) * 32 + share.first);
      const short up = i * 4;  // two groups on
      w.q[i * 2][0] = low_nibbles(q.xy, fifth.xxyy & (low_bits << up));
      w.q[i * 2][1] = low_nibbles(q.zw, fifth.zzww & (low_bits << up));
      w.q[i * 2 + 1][0] = high_nibbles(q.xy, fifth.xxyy & (high_bits << up));
      w.q[i * 2 + 1][1] = high_nibbles(q.zw, fifth.zzww & (high_bits << up));
    }
    return w;
  }
  static Inputs inputs(device const float* x, short part) { return k_inputs(x, part); }
  static float add(thread const Weights& w, thread const Inputs& in, float sum) { return k_add(w, in, sum); }
};

template [[host_name("matvec_q4_k_f32")]] kernel decltype(matvec<MatvecQ4_K, 1>) matvec<MatvecQ4_K, 1>;
template [[host_name("matvec_batch_q4_k_f32")]] kernel decltype(matvec<MatvecQ4_K, matvec_most_tokens>)
    matvec<MatvecQ4_K, matvec_most_tokens>;
template [[host_name("matvec_q5_k_f32")]] kernel decltype(matvec<MatvecQ5_K, 1>) matvec<MatvecQ5_K, 1>;
template [[host_name("matvec_batch_q5_k_f32")]] kernel decltype(matvec<MatvecQ5_K, matvec_most_tokens>)
    matvec<MatvecQ5_K, matvec_most_tokens>;
