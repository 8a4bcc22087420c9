// Matrix-vector products of Q8_0: four lanes share a block, four simdgroups share two rows, so that 32 blocks
// of a row are in flight: 1024 values, a row of a small model.
#include "matvec_split.h"
#include "nibbles.h"

inline float4 signed_bytes(ushort a, ushort b) {
  const char2 first = as_type<char2>(a), second = as_type<char2>(b);
  return float4(first.x, first.y, second.x, second.y);
}

// x[e] = q * d
struct MatvecQ8_0 {
  enum : short { elements = 32, lanes = 4, rows = matvec_q8_rows, simdgroups = matvec_q8_simdgroups };
  typedef BlockQ8_0 Block;
  struct Weights {
    float4 q[2];
    float d;
  };
  struct Inputs {
    float4 x[2];
  };

  static Weights decode(device const Block& block, short part) {
    const ushort4 q = load_bytes8((device const uchar*)block.qs + part * 8);
    return {{signed_bytes(q.x, q.y), signed_bytes(q.z, q.w)}, float(block.d)};
  }
  static Inputs inputs(device const float* x, short part) {
    device const float4* at = (device const float4*)(x + part * 8);
    return {{at[0], at[1]}};
  }
  static float add(thread const Weights& w, thread const Inputs& in, float sum) {
    const float dot = chain(w.q[0], in.x[0], 0.0f);
    return fma(w.d, chain(w.q[1], in.x[1], dot), sum);
  }
};

template [[host_name("matvec_q8_0_f32")]] kernel decltype(matvec_split<MatvecQ8_0, 1>)
    matvec_split<MatvecQ8_0, 1>;
template [[host_name("matvec_batch_q8_0_f32")]] kernel decltype(matvec_split<MatvecQ8_0, matvec_most_tokens>)
    matvec_split<MatvecQ8_0, matvec_most_tokens>;
