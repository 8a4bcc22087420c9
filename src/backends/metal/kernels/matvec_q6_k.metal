// Matrix-vector products of Q6_K: sixteen lanes share a block of 256 values, so that two of a row's blocks
// are in flight. A lane has four bytes of qh and the eight of ql that belong to them: four values of each
// quarter of a half.
#include "matvec.h"

// Two six-bit values in two bytes, not shifted down: the odd one counts 256 times itself (see nibbles.h).
constant float4 byte_places = float4(1.0f, 256.0f, 1.0f, 256.0f);
constant float4 byte_inverse = float4(1.0f, 1.0f / 256, 1.0f, 1.0f / 256);

inline float4 values_of_bytes(ushort2 q) {
  return float4(q.x & 0x00FF, q.x & 0xFF00, q.y & 0x00FF, q.y & 0xFF00);
}

inline ushort2 load_bytes4(device const uchar* at) { return ushort2(*(device const packed_ushort2*)at); }

// x[e] = d * sc * (q - 32)
struct MatvecQ6_K {
  enum : short { elements = 256, lanes = 16, rows = matvec_k_rows, simdgroups = matvec_k_simdgroups };
  typedef BlockQ6_K Block;
  struct Weights {
    float4 q[4];  // by quarter
    float4 scale;
  };
  struct Inputs {
    float4 x[4];
    float4 offset;  // -32 times a quarter's sum
  };

  static Weights decode(device const Block& block, short part) {
    const short half_block = part / 8, first = part % 8 * 4;
    const ushort2 ql_even = load_bytes4(block.ql + half_block * 64 + first);
    const ushort2 ql_odd = load_bytes4(block.ql + half_block * 64 + 32 + first);
    const ushort2 qh = load_bytes4(block.qh + half_block * 32 + first);
    device const char* scales = (device const char*)block.sc + half_block * 8 + first / 16;
    Weights w;
    const ushort2 low = ushort2(0x0F0F);
    w.q[0] = values_of_bytes((ql_even & low) | ((qh & ushort2(0x0303)) << ushort2(4)));
    w.q[1] = values_of_bytes((ql_odd & low) | ((qh & ushort2(0x0C0C)) << ushort2(2)));
    w.q[2] = values_of_bytes(((ql_even >> ushort2(4)) & low) | (qh & ushort2(0x3030)));
    w.q[3] = values_of_bytes(((ql_odd >> ushort2(4)) & low) | ((qh & ushort2(0xC0C0)) >> ushort2(2)));
    w.scale = float(block.d) * float4(scales[0], scales[2], scales[4], scales[6]);
    return w;
  }
  static Inputs inputs(device const float* x, short part) {
    device const float4* at = (device const float4*)(x + part / 8 * 128 + part % 8 * 4);
    Inputs in;
#pragma unroll
    for (short i = 0; i < 4; i++) {
      in.x[i] = at[i * 8] * byte_inverse;
      in.offset[i] = chain(-32.0f * byte_places, in.x[i], 0.0f);
    }
    return in;
  }
  static float add(thread const Weights& w, thread const Inputs& in, float sum) {
#pragma unroll
    for (short i = 0; i < 4; i++) sum = fma(w.scale[i], chain(w.q[i], in.x[i], in.offset[i]), sum);
    return sum;
  }
};

template [[host_name("matvec_q6_k_f32")]] kernel decltype(matvec<MatvecQ6_K, 1>) matvec<MatvecQ6_K, 1>;
template [[host_name("matvec_batch_q6_k_f32")]] kernel decltype(matvec<MatvecQ6_K, matvec_most_tokens>)
    matvec<MatvecQ6_K, matvec_most_tokens>;
