#pragma once
#include <algorithm>
#include <cstring>
#include <type_traits>

#include "backends/cpu/isa/kernels.h"
#include "backends/cpu/isa/quant_formats.h"
#include "backends/cpu/isa/quant_scratch.h"

/// Quantised tokens as a tile reads them: block after block, what all tokens of the tile have in it side by
/// side. One pointer serves the whole tile, and the processor foresees every load.
namespace minfer::cpu::quant {

/// A number per block that only sums of activations go into:
///  - plain: -offset times the block's sum, where an integer dot of unsigned quants begins so that it ends as
///    the dot of signed ones;
///  - two_scales: the same for each half;
///  - with_min: the activations' scale times their sum, which the weights' minimum is multiplied by.
/// Instruction sets with signed dots need the last alone.
template <class V, class F>
inline constexpr int terms_per_block = F::kind == Kind::with_min               ? 1
                                       : !V::unsigned_quants || F::offset == 0 ? 0
                                       : F::kind == Kind::two_scales           ? 2
                                                                               : 1;

template <class V, class F, int tokens>
struct TokenBlock {
  using Term = std::conditional_t<F::kind == Kind::with_min, float, int32_t>;
  static constexpr int terms = terms_per_block<V, F>;
  int8_t q[tokens][32];
  float d[tokens];
  Term term[tokens * terms + (terms == 0)];
};

inline int32_t sum_of_16(const int8_t* q) {
  int32_t sum = 0;
  for (int i = 0; i < 16; ++i) sum += q[i];
  return sum;
}

/// Packs the first `tokens` rows of x.
template <class V, class F, int tokens>
void pack_tokens(TokenBlock<V, F, tokens>* to, const Q8Rows& x) {
  using To = TokenBlock<V, F, tokens>;
  static_assert(sizeof(To) <= size_t(tokens * token_block_bytes));
  const int64_t blocks = x.cols / 32;
  for (int64_t b = 0; b < blocks; ++b) {
    for (int t = 0; t < tokens; ++t) {
      const int64_t at = t * blocks + b;
      std::memcpy(to[b].q[t], x.q + at * 32, 32);
      to[b].d[t] = x.d[at];
      if constexpr (F::kind == Kind::with_min) {
        to[b].term[t] = x.d[at] * float(x.sum[at]);
      } else if constexpr (To::terms == 1) {
        to[b].term[t] = -F::offset * x.sum[at];
      } else if constexpr (To::terms == 2) {
        const int32_t first = sum_of_16(x.q + at * 32);
        to[b].term[2 * t] = -F::offset * first;
        to[b].term[2 * t + 1] = -F::offset * (x.sum[at] - first);
      }
    }
  }
}

/// Packs `tokens` <= most rows of x, in whichever size they are.
template <class V, class F, int most>
void pack_some_tokens(std::byte* to, const Q8Rows& x, int64_t tokens) {
  if constexpr (most > 0) {
    if (tokens == most) return pack_tokens(reinterpret_cast<TokenBlock<V, F, most>*>(to), x);
    pack_some_tokens<V, F, most - 1>(to, x, tokens);
  }
}

}  // namespace minfer::cpu::quant
