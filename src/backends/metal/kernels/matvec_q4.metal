// Matrix-vector products of Q4_0 and Q4_1: two lanes share a block, so that 16 of a row's blocks are in
// flight.
#include "matvec.h"
#include "matvec_nibbles.h"

// x[e] = (q - 8) * d
struct MatvecQ4_0 {
  enum : short { elements = 32, lanes = 2, rows = matvec_32_rows, simdgroups = matvec_32_simdgroups };
  typedef BlockQ4_0 Block;
  struct Weights {
    Nibbles16 q;
    float d;
  };
  struct Inputs {
    Nibbles16 x;
    float offset;  // -8 times their sum
  };

  static Weights decode(device const Block& block, short part) {
    return {decode_nibbles(block.qs + part * 8), float(block.d)};
  }
  static Inputs inputs(device const float* x, short part) {
    const Nibbles16 at_places = inputs_of_nibbles(x + part * 8);
    return {at_places, sum_inputs(at_places, -8.0f)};
  }
  static float add(thread const Weights& w, thread const Inputs& in, float sum) {
    return fma(w.d, dot_nibbles(w.q, in.x, in.offset), sum);
  }
};

// x[e] = q * d + m
struct MatvecQ4_1 {
  enum : short { elements = 32, lanes = 2, rows = matvec_32_rows, simdgroups = matvec_32_simdgroups };
  typedef BlockQ4_1 Block;
  struct Weights {
    Nibbles16 q;
    float d, m;
  };
  struct Inputs {
    Nibbles16 x;
    float sum;
  };

  static Weights decode(device const Block& block, short part) {
    return {decode_nibbles(block.qs + part * 8), float(block.d), float(block.m)};
  }
  static Inputs inputs(device const float* x, short part) {
    const Nibbles16 at_places = inputs_of_nibbles(x + part * 8);
    return {at_places, sum_inputs(at_places, 1.0f)};
  }
  static float add(thread const Weights& w, thread const Inputs& in, float sum) {
    return fma(w.d, dot_nibbles(w.q, in.x, 0.0f), fma(w.m, in.sum, sum));
  }
};

template [[host_name("matvec_q4_0_f32")]] kernel decltype(matvec<MatvecQ4_0, 1>) matvec<MatvecQ4_0, 1>;
template [[host_name("matvec_batch_q4_0_f32")]] kernel decltype(matvec<MatvecQ4_0, matvec_most_tokens>)
    matvec<MatvecQ4_0, matvec_most_tokens>;
template [[host_name("matvec_q4_1_f32")]] kernel decltype(matvec<MatvecQ4_1, 1>) matvec<MatvecQ4_1, 1>;
template [[host_name("matvec_batch_q4_1_f32")]] kernel decltype(matvec<MatvecQ4_1, matvec_most_tokens>)
    matvec<MatvecQ4_1, matvec_most_tokens>;
