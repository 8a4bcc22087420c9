#pragma once
#include <algorithm>

#include "backends/cpu/isa/kernels.h"
#include "backends/cpu/isa/quant_scratch.h"
#include "backends/cpu/isa/quant_tokens.h"

/// Products of quantised weights and quantised tokens for any vector width: lanes are rows, so that every
/// (row, token) has its own sum over blocks in order and nothing depends on how rows or tokens are grouped.
///
/// Few tokens: each block is unpacked in registers and used at once, which reads the weights once at the
/// speed of memory. More tokens: V::tile_groups groups of rows are unpacked into a panel that stays in the
/// cache, and tiles of these groups by V::tile_tokens tokens run over it.
namespace minfer::cpu::quant {

/// Up to here a block is unpacked for each group of tokens, from here on panels pay off.
inline constexpr int64_t panel_from_tokens = 4;

/// One block of `groups` groups of rows times `tokens` tokens: integer dots, then the roundings in their
/// order.
template <class V, class F, int groups, int tokens>
[[gnu::always_inline]] inline void accumulate(typename V::Floats (&acc)[groups][tokens],
                                              const Block<V, F::kind>* blocks,
                                              const TokenBlock<V, F, tokens>& x) {
  typename V::Floats isum[groups][tokens];
  V::template dot<F>(isum, blocks, x);
  static_for<tokens>([&](auto t) {
    const auto da = V::broadcast(x.d[t]);
    static_for<groups>(
        [&](auto g) { acc[g][t] = V::fma(V::multiply(blocks[g].scale, da), isum[g][t], acc[g][t]); });
    if constexpr (F::kind == Kind::with_min) {
      const auto term = V::broadcast(x.term[t]);
      static_for<groups>([&](auto g) { acc[g][t] = V::fma(blocks[g].min, term, acc[g][t]); });
    }
  });
}

/// One group of rows times `tokens` tokens, straight from the weights. `next` is where the weights of the
/// following group begin: they are fetched while this group is computed, in the order they lie in memory, and
/// evenly: a processor that has a dozen lines under way computes nothing until it may ask for more. They go
/// to the second-level cache: groups of long rows would push each other out of the first.
template <class V, class F, int tokens>
[[gnu::flatten]] void few_tokens(float* y, int64_t y_stride, const std::byte* w, size_t w_row_bytes,
                                 const std::byte* next, const TokenBlock<V, F, tokens>* x, int64_t blocks) {
  typename V::Floats acc[1][tokens];
  for (auto& a : acc[0]) a = V::broadcast(0.0f);
  constexpr int step_bytes = V::rows * F::L::bytes / F::span;
  static_assert(step_bytes * F::span == V::rows * F::L::bytes);
  for (int64_t b = 0; b < blocks; b += F::span) {
    F::unpack(
        w, w_row_bytes, [&](int i, const Block<V, F::kind>& block) __attribute__((always_inline)) {
          for (int line = 0; line < step_bytes; line += 64) {
            __builtin_prefetch(next + i * step_bytes + line, 0, 2);
          }
          accumulate<V, F, 1, tokens>(acc, &block, x[b + i]);
        });
    next += step_bytes * F::span;
    w += F::L::bytes;
  }
  static_for<tokens>([&](auto t) { V::store(y + t * y_stride, acc[0][t]); });
}

/// A panel's rows times `tokens` tokens. The sums so far are in y unless this is the row's first segment.
template <class V, class F, int groups, int tokens>
[[gnu::flatten]] void tile(float* y, int64_t y_stride, const Block<V, F::kind>* panel, int64_t panel_length,
                           const TokenBlock<V, F, tokens>* x, bool first_segment) {
  typename V::Floats acc[groups][tokens];
  static_for<groups>([&](auto g) {
    static_for<tokens>([&](auto t) {
      acc[g][t] = first_segment ? V::broadcast(0.0f) : V::load(y + t * y_stride + g * V::rows);
    });
  });
  for (int64_t b = 0; b < panel_length; ++b) {
    accumulate<V, F, groups, tokens>(acc, panel + b * groups, x[b]);
  }
  static_for<groups>([&](auto g) {
    static_for<tokens>([&](auto t) { V::store(y + t * y_stride + g * V::rows, acc[g][t]); });
  });
}

/// The last tile of a panel: `tokens` is what is left, at most `most`.
template <class V, class F, int groups, int most>
void last_tile(float* y, int64_t y_stride, const Block<V, F::kind>* panel, int64_t panel_length,
               const std::byte* x, int64_t first_block, int64_t tokens) {
  if constexpr (most > 0) {
    if (tokens == most) {
      const auto* blocks = reinterpret_cast<const TokenBlock<V, F, most>*>(x) + first_block;
      return tile<V, F, groups, most>(y, y_stride, panel, panel_length, blocks, first_block == 0);
    }
    last_tile<V, F, groups, most - 1>(y, y_stride, panel, panel_length, x, first_block, tokens);
  }
}

/// Unpacks `length` blocks of the groups' rows; the groups' blocks of the same columns lie together.
template <class V, class F, int groups>
[[gnu::flatten]] void fill_panel(Block<V, F::kind>* panel, const std::byte* w, size_t w_row_bytes,
                                 int64_t length) {
  for (int64_t b = 0; b < length; b += F::span, w += F::L::bytes) {
    for (int g = 0; g < groups; ++g) {
      F::unpack(w + size_t(g * V::rows) * w_row_bytes, w_row_bytes,
                [&](int i, const Block<V, F::kind>& block) { panel[(b + i) * groups + g] = block; });
    }
  }
}

/// Tokens as pack_strip leaves them: tiles one after the other, the last one with what is left.
struct Strip {
  std::byte* packed;
  int64_t blocks, tokens;
};

template <class V, class F>
inline constexpr int tile_tokens = V::template tile_tokens<F>;

template <class V, class F>
using FullTile = TokenBlock<V, F, tile_tokens<V, F>>;

template <class V, class F>
void pack_strip(const Strip& strip, const Q8Rows& x) {
  constexpr int full = tile_tokens<V, F>;
  auto* tile = reinterpret_cast<FullTile<V, F>*>(strip.packed);
  int64_t t = 0;
  for (; t + full <= strip.tokens; t += full, tile += strip.blocks) pack_tokens(tile, x.from(t, 0));
  pack_some_tokens<V, F, full - 1>(reinterpret_cast<std::byte*>(tile), x.from(t, 0), strip.tokens - t);
}

/// `groups` groups of rows times all tokens of a strip.
template <class V, class F, int groups>
void panel_matmul(float* y, int64_t y_stride, const std::byte* w, size_t w_row_bytes, const Strip& x,
                  std::byte* scratch) {
  using PanelBlock = Block<V, F::kind>;
  static_assert(sizeof(PanelBlock) <= size_t(V::rows * panel_row_block_bytes) && alignof(PanelBlock) <= 64);
  static_assert(groups * V::rows <= panel_rows && panel_blocks % F::span == 0);
  constexpr int full = tile_tokens<V, F>;
  auto* const panel = reinterpret_cast<PanelBlock*>(scratch);
  for (int64_t first = 0; first < x.blocks; first += panel_blocks) {
    const int64_t length = std::min(panel_blocks, x.blocks - first);
    fill_panel<V, F, groups>(panel, w + first / F::span * F::L::bytes, w_row_bytes, length);
    const auto* tokens = reinterpret_cast<const FullTile<V, F>*>(x.packed);
    int64_t t = 0;
    for (; t + full <= x.tokens; t += full, tokens += x.blocks) {
      tile<V, F, groups, full>(y + t * y_stride, y_stride, panel, length, tokens + first, first == 0);
    }
    last_tile<V, F, groups, full - 1>(y + t * y_stride, y_stride, panel, length,
                                      reinterpret_cast<const std::byte*>(tokens), first, x.tokens - t);
  }
}

/// Rows at the end that fill no group are computed together with rows before them once more: the same bits.
template <class V, class F>
void panels_matmul(float* y, int64_t y_stride, const std::byte* w, size_t w_row_bytes, int64_t rows,
                   const Strip& x, std::byte* scratch) {
  constexpr int64_t group = V::rows;
  for (int64_t r = 0; r < rows;) {
    const bool two = V::tile_groups == 2 && rows - r > group && rows >= 2 * group;
    const int64_t height = two ? 2 * group : group;
    const int64_t start = std::min(r, rows - height);
    const auto panel = two ? panel_matmul<V, F, V::tile_groups> : panel_matmul<V, F, 1>;
    panel(y + start, y_stride, w + size_t(start) * w_row_bytes, w_row_bytes, x, scratch);
    r = start + height;
  }
}

/// The same for `tokens` < panel_from_tokens.
template <class V, class F, int tokens>
void few_tokens_matmul(float* y, int64_t y_stride, const std::byte* w, size_t w_row_bytes, int64_t rows,
                       const Q8Rows& x, std::byte* scratch) {
  constexpr int64_t group = V::rows;
  auto* const packed = reinterpret_cast<TokenBlock<V, F, tokens>*>(scratch);
  pack_tokens(packed, x);
  for (int64_t r = 0; r < rows; r += group) {
    const int64_t start = std::min(r, rows - group);
    // Behind the last rows lie those that the thread most likely takes next; to ask for memory that is not
    // there does nothing.
    const std::byte* next = w + size_t(r + group) * w_row_bytes;
    few_tokens<V, F, tokens>(y + start, y_stride, w + size_t(start) * w_row_bytes, w_row_bytes, next, packed,
                             x.cols / 32);
  }
}

/// Fewer rows than a group has are left to `reference`.
template <class V, class F>
void matmul(KernelTable::MatMulQ reference, float* y, int64_t y_stride, const std::byte* w,
            size_t w_row_bytes, int64_t rows, const Q8Rows& x, int64_t tokens, std::byte* scratch) {
  static_assert(panel_from_tokens == 4);
  if (rows < V::rows) return reference(y, y_stride, w, w_row_bytes, rows, x, tokens, scratch);
  if (tokens == 1) return few_tokens_matmul<V, F, 1>(y, y_stride, w, w_row_bytes, rows, x, scratch);
  if (tokens == 2) return few_tokens_matmul<V, F, 2>(y, y_stride, w, w_row_bytes, rows, x, scratch);
  if (tokens == 3) return few_tokens_matmul<V, F, 3>(y, y_stride, w, w_row_bytes, rows, x, scratch);
  const int64_t most = strip_tokens(x.cols);
  for (int64_t t = 0; t < tokens; t += most) {
    const Strip strip{scratch + panel_bytes(x.cols), x.cols / 32, std::min(most, tokens - t)};
    pack_strip<V, F>(strip, x.from(t, 0));
    panels_matmul<V, F>(y + t * y_stride, y_stride, w, w_row_bytes, rows, strip, scratch);
  }
}

}  // namespace minfer::cpu::quant
