#pragma once
#include <algorithm>

#include "backends/cpu/isa/kernels.h"
#include "backends/cpu/isa/quant_formats.h"
#include "backends/cpu/isa/quant_scratch.h"
#include "backends/cpu/isa/quant_tokens.h"

/// Products of quantised weights and quantised tokens for any vector width: lanes are rows, so that every
/// (row, token) has its own sum over blocks in order and nothing depends on how rows or tokens are grouped.
///
/// Few tokens: each block is unpacked in registers and used at once, which reads the weights once at the
/// speed of memory. More tokens: a group of rows is unpacked into a panel that stays in the cache, and tiles
/// of V::tile_tokens tokens run over it.
namespace minfer::cpu::quant {

/// Up to here a block is unpacked for each group of tokens, from here on panels pay off.
inline constexpr int64_t panel_from_tokens = 4;

/// One block of a group of rows times tokens [first, first + tokens) of n: integer dots, then the roundings
/// in their order.
template <class V, class F, int first, int tokens, int offset, int n, class AnyBlock>
[[gnu::always_inline]] inline void accumulate(typename V::Floats (&acc)[tokens], const AnyBlock& block,
                                              const TokenBlock<n>& x, const TokenSums<offset, n>& sums) {
  static_assert(32 * F::largest * 127 < 1 << 22, "see dot_origin");
  constexpr bool halves = F::kind == Kind::two_scales;
  typename V::Words dot[tokens];
  typename V::Floats scaled[tokens];
  V::template dots<F, first, 0, halves ? 4 : 8>(dot, block, x, sums);
  static_for<tokens>([&](auto t) { scaled[t] = V::fma(V::as_floats(dot[t]), block.scale, block.origin); });
  if constexpr (halves) {
    V::template dots<F, first, 4, 8>(dot, block, x, sums);
    static_for<tokens>(
        [&](auto t) { scaled[t] = V::fma(V::to_floats(dot[t]), block.second_scale, scaled[t]); });
  }
  static_for<tokens>([&](auto t) {
    acc[t] = V::fma(scaled[t], V::broadcast(x.d[first + t]), acc[t]);
    if constexpr (F::kind == Kind::with_min) {
      acc[t] = V::fma(block.min, V::broadcast(sums.d_sum[first + t]), acc[t]);
    }
  });
}

/// One group of rows times `tokens` tokens, straight from the weights. `next` is where the weights of the
/// following group begin: they are fetched while this group is computed, in the order they lie in memory, and
/// evenly: a processor that has a dozen lines under way computes nothing until it may ask for more. They go
/// to the second-level cache: groups of long rows would push each other out of the first.
template <class V, class F, int tokens>
[[gnu::flatten]] void few_tokens(float* y, int64_t y_stride, const std::byte* w, size_t w_row_bytes,
                                 const std::byte* next, const TokenTile<tokens>& x) {
  const TokenBlock<tokens>* const quants = x.quants();
  const auto* const sums = x.template sums<F::offset>();
  typename V::Floats acc[tokens];
  for (auto& a : acc) a = V::broadcast(0.0f);
  constexpr int step_bytes = V::rows * F::L::bytes / F::span;
  static_assert(step_bytes * F::span == V::rows * F::L::bytes);
  for (int64_t b = 0; b < x.blocks; b += F::span) {
    F::unpack(
        w, w_row_bytes, [&](int i, const Block<V, F::kind>& block) __attribute__((always_inline)) {
          for (int line = 0; line < step_bytes; line += 64) {
            __builtin_prefetch(next + i * step_bytes + line, 0, 2);
          }
          accumulate<V, F, 0>(acc, block, quants[b + i], sums[b + i]);
        });
    next += step_bytes * F::span;
    w += F::L::bytes;
  }
  static_for<tokens>([&](auto t) { V::store(y + t * y_stride, acc[t]); });
}

/// A block as a panel holds it: as it was unpacked, unless an instruction set's tiles take another form.
template <class V, class F>
struct PanelForm {
  using Block = quant::Block<V, F::kind>;
  static constexpr int offset = F::offset;
  [[gnu::always_inline]] static const Block& from(const Block& block) { return block; }
};

/// A panel of unpacked weights: blocks [first, first + length) of one group of rows.
template <class V, class F>
struct Panel {
  const typename PanelForm<V, F>::Block* blocks;
  int64_t first, length;
};

/// A panel times tokens [first, first + tokens) of a tile of n. The sums so far are in y unless these are the
/// row's first blocks.
template <class V, class F, int n, int first, int tokens>
[[gnu::flatten]] void tile(float* y, int64_t y_stride, const Panel<V, F>& panel, const TokenTile<n>& x) {
  typename V::Floats acc[tokens];
  y += first * y_stride;
  static_for<tokens>(
      [&](auto t) { acc[t] = panel.first == 0 ? V::broadcast(0.0f) : V::load(y + t * y_stride); });
  // The next group's results: a store that waits for its line holds up all stores behind it, and a tile's
  // lines lie too far apart for the processor to foresee.
  for (int t = 0; t < tokens; ++t) __builtin_prefetch(y + t * y_stride + V::rows);
  const TokenBlock<n>* const quants = x.quants() + panel.first;
  const auto* const sums = x.template sums<PanelForm<V, F>::offset>() + panel.first;
  for (int64_t b = 0; b < panel.length; ++b) {
    accumulate<V, F, first>(acc, panel.blocks[b], quants[b], sums[b]);
  }
  static_for<tokens>([&](auto t) { V::store(y + t * y_stride, acc[t]); });
}

/// A panel times all tokens of a tile of n, from token `first` on.
template <class V, class F, int n, int first = 0>
void whole_tile(float* y, int64_t y_stride, const Panel<V, F>& panel, const TokenTile<n>& x) {
  if constexpr (first < n) {
    constexpr int tokens = std::min(V::tile_tokens, n - first);
    tile<V, F, n, first, tokens>(y, y_stride, panel, x);
    whole_tile<V, F, n, first + tokens>(y, y_stride, panel, x);
  }
}

/// A panel times all tokens from `t` on, in tiles of `most` and fewer.
template <class V, class F, int most>
void tiles(float* y, int64_t y_stride, const Panel<V, F>& panel, const Q8Tokens& x, int64_t t) {
  if constexpr (most > 0) {
    for (; t + most <= x.tokens; t += most) {
      whole_tile<V, F, most>(y + t * y_stride, y_stride, panel, {x.tile(t), x.blocks()});
    }
    tiles<V, F, most - 1>(y, y_stride, panel, x, t);
  }
}

template <class V, class F>
[[gnu::flatten]] void fill_panel(typename PanelForm<V, F>::Block* panel, const std::byte* w,
                                 size_t w_row_bytes, int64_t length) {
  using Form = PanelForm<V, F>;
  for (int64_t b = 0; b < length; b += F::span, w += F::L::bytes) {
    F::unpack(w, w_row_bytes,
              [&](int i, const Block<V, F::kind>& block) { panel[b + i] = Form::from(block); });
  }
}

/// Blocks from `first` on, as many as a panel holds, of one group of rows times the same of all tokens of x.
template <class V, class F>
void panel_matmul(float* y, int64_t y_stride, const std::byte* w, size_t w_row_bytes, const Q8Tokens& x,
                  int64_t first, std::byte* scratch) {
  using PanelBlock = typename PanelForm<V, F>::Block;
  static_assert(sizeof(PanelBlock) <= size_t(panel_rows * panel_row_block_bytes) &&
                alignof(PanelBlock) <= 64);
  static_assert(panel_blocks % F::span == 0);
  auto* const blocks = reinterpret_cast<PanelBlock*>(scratch);
  const Panel<V, F> panel{blocks, first, std::min(panel_blocks, x.blocks() - first)};
  fill_panel<V, F>(blocks, w + first / F::span * F::L::bytes, w_row_bytes, panel.length);
  tiles<V, F, token_tile>(y, y_stride, panel, x, 0);
}

/// Rows [begin, end), whole groups, times all tokens of x. All groups take their turn with the columns of one
/// panel before the next: what is read of many tokens then stays in the second-level cache, and weights are
/// unpacked for all of them at once.
template <class V, class F>
void panels_matmul(float* y, int64_t y_stride, const std::byte* w, size_t w_row_bytes, int64_t begin,
                   int64_t end, const Q8Tokens& x, std::byte* scratch) {
  for (int64_t first = 0; first < x.blocks(); first += panel_blocks) {
    for (int64_t r = begin; r < end; r += V::rows) {
      panel_matmul<V, F>(y + r, y_stride, w + size_t(r) * w_row_bytes, w_row_bytes, x, first, scratch);
    }
  }
}

/// The product for `tokens` < panel_from_tokens. Rows at the end that fill no group are computed together
/// with rows before them once more: the same bits.
template <class V, class F, int tokens>
void few_tokens_matmul(float* y, int64_t y_stride, const std::byte* w, size_t w_row_bytes, int64_t rows,
                       const Q8Tokens& x) {
  for (int64_t i = 0; i < rows; i += V::rows) {
    const int64_t r = std::min<int64_t>(i, rows - V::rows);
    // Behind the last rows lie those that the thread most likely takes next; to ask for memory that is not
    // there does nothing.
    const std::byte* group = w + size_t(r) * w_row_bytes;
    const std::byte* next = group + V::rows * w_row_bytes;
    few_tokens<V, F, tokens>(y + r, y_stride, group, w_row_bytes, next, {x.data, x.blocks()});
  }
}

/// Fewer rows than a group has are left to `reference`.
template <class V, class F>
void matmul(KernelTable::MatMulQ reference, float* y, int64_t y_stride, const std::byte* w,
            size_t w_row_bytes, int64_t rows, const Q8Tokens& x, std::byte* scratch) {
  static_assert(panel_from_tokens == 4);
  if (rows < V::rows) return reference(y, y_stride, w, w_row_bytes, rows, x, scratch);
  if (x.tokens == 1) return few_tokens_matmul<V, F, 1>(y, y_stride, w, w_row_bytes, rows, x);
  if (x.tokens == 2) return few_tokens_matmul<V, F, 2>(y, y_stride, w, w_row_bytes, rows, x);
  if (x.tokens == 3) return few_tokens_matmul<V, F, 3>(y, y_stride, w, w_row_bytes, rows, x);
  const int64_t whole = rows / V::rows * V::rows;
  const int64_t most = panel_tokens(x.cols);
  for (int64_t t = 0; t < x.tokens; t += most) {
    const Q8Tokens strip = x.part(t, std::min(most, x.tokens - t));
    const auto part = [&](int64_t begin, int64_t end) {
      panels_matmul<V, F>(y + t * y_stride, y_stride, w, w_row_bytes, begin, end, strip, scratch);
    };
    for (int64_t r = 0; r < whole; r += strip_rows) part(r, std::min(whole, r + strip_rows));
    // Rows that fill no group are computed together with rows before them once more, from the first column
    // on.
    if (whole < rows) part(rows - V::rows, rows);
  }
}

}  // namespace minfer::cpu::quant
