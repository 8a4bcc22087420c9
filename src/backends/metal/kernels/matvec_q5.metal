// Matrix-vector products of Q5_0 and Q5_1: Q4_0 and Q4_1 with a fifth bit in `qh`.
#include "matvec_nibbles.h"

// Share `part` of a block, as in decode_nibbles; the fifth bits of its values are bytes `part` and part + 2
// of qh.
inline Nibbles16 decode_five_bits(device const uchar* qs, device const uchar* qh, short part) {
  const ushort4 q = load_bytes8(qs + part * 8);
  const int low = qh[part], high = qh[part + 2];
  return {{low_nibbles(q.xy, low & int4(1, 2, 4, 8)), low_nibbles(q.zw, low & int4(16, 32, 64, 128))},
          {high_nibbles(q.xy, high & int4(1, 2, 4, 8)), high_nibbles(q.zw, high & int4(16, 32, 64, 128))}};
}

// x[e] = (q - 16) * d
struct MatvecQ5_0 {
  enum : short { elements = 32, lanes = 2, rows = matvec_32_rows, simdgroups = matvec_32_simdgroups };
  typedef BlockQ5_0 Block;
  struct Weights {
    Nibbles16 q;
    float d;
  };
  struct Inputs {
    Nibbles16 x;
    float offset;  // -16 times their sum
  };

  static Weights decode(device const Block& block, short part) {
    return {decode_five_bits(block.qs, block.qh, part), float(block.d)};
  }
  static Inputs inputs(device const float* x, short part) {
    const Nibbles16 at_places = inputs_of_nibbles(x + part * 8);
    return {at_places, sum_inputs(at_places, -16.0f)};
  }
  static float add(thread const Weights& w, thread const Inputs& in, float sum) {
    return fma(w.d, dot_nibbles(w.q, in.x, in.offset), sum);
  }
};

// x[e] = q * d + m
struct MatvecQ5_1 {
  enum : short { elements = 32, lanes = 2, rows = matvec_32_rows, simdgroups = matvec_32_simdgroups };
  typedef BlockQ5_1 Block;
  struct Weights {
    Nibbles16 q;
    float d, m;
  };
  struct Inputs {
    Nibbles16 x;
    float sum;
  };

  static Weights decode(device const Block& block, short part) {
    return {decode_five_bits(block.qs, block.qh, part), float(block.d), float(block.m)};
  }
  static Inputs inputs(device const float* x, short part) {
    const Nibbles16 at_places = inputs_of_nibbles(x + part * 8);
    return {at_places, sum_inputs(at_places, 1.0f)};
  }
  static float add(thread const Weights& w, thread const Inputs& in, float sum) {
    return fma(w.d, dot_nibbles(w.q, in.x, 0.0f), fma(w.m, in.sum, sum));
  }
};

template [[host_name("matvec_q5_0_f32")]] kernel decltype(matvec<MatvecQ5_0, 1>) matvec<MatvecQ5_0, 1>;
template [[host_name("matvec_batch_q5_0_f32")]] kernel decltype(matvec<MatvecQ5_0, matvec_most_tokens>)
    matvec<MatvecQ5_0, matvec_most_tokens>;
template [[host_name("matvec_q5_1_f32")]] kernel decltype(matvec<MatvecQ5_1, 1>) matvec<MatvecQ5_1, 1>;
template [[host_name("matvec_batch_q5_1_f32")]] kernel decltype(matvec<MatvecQ5_1, matvec_most_tokens>)
    matvec<MatvecQ5_1, matvec_most_tokens>;
