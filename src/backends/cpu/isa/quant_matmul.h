#pragma once
#include <algorithm>

#include "backends/cpu/isa/kernels.h"
#include "backends/cpu/isa/quant_formats.h"
#include "backends/cpu/isa/quant_scratch.h"

/// Products of quantised weights and quantised tokens for any vector width: lanes are rows, so that every
/// (row, token) has its own sum over blocks in order and nothing depends on how rows or tokens are grouped.
///
/// Few tokens: each block is unpacked in registers and used at once, which reads the weights once at the
/// speed of memory. More tokens: one or two groups of rows are unpacked into a panel that stays in the cache,
/// and tiles of two groups by V::tile_tokens tokens run over it.
namespace minfer::cpu::quant {

/// Up to here a block is unpacked for each group of tokens, from here on panels pay off.
inline constexpr int64_t panel_from_tokens = 4;

/// Tokens from `q`, `d` and `sum` on: token t's are t * cols, t * blocks further.
struct Tokens {
  const int8_t* q;
  const float* d;
  const int32_t* sum;
  int64_t cols, blocks;
  const int32_t* seeds = nullptr;  ///< of formats with two scales: two a block, counted from `position`
  int64_t position = 0;

  /// All blocks of all tokens.
  explicit Tokens(const Q8Rows& x) : q(x.q), d(x.d), sum(x.sum), cols(x.cols), blocks(x.cols / 32) {}
  [[gnu::always_inline]] Tokens at(int64_t block, int64_t token = 0) const {
    Tokens moved = *this;
    moved.q += token * cols + block * 32;
    moved.d += token * blocks + block;
    moved.sum += token * blocks + block;
    moved.position += token * blocks + block;
    return moved;
  }
  [[gnu::always_inline]] int32_t seed(int64_t token, int half) const {
    return seeds[2 * (position + token * blocks) + half];
  }
};

/// Fills two integers a block: -offset times the sum of each half's activations, where a half's dot begins so
/// that unsigned quants give the dot of signed ones.
template <class V, int offset>
void fill_seeds(int32_t* seeds, const Q8Rows& x, int64_t tokens) {
  const int64_t blocks = tokens * (x.cols / 32);
  for (int64_t b = 0; b < blocks; ++b) {
    int32_t first = 0;
    for (int i = 0; i < 16; ++i) first += x.q[32 * b + i];
    seeds[2 * b] = -offset * first;
    seeds[2 * b + 1] = -offset * (x.sum[b] - first);
  }
}

/// One block of `groups` groups of rows times `tokens` tokens: integer dots, then the roundings in their
/// order.
template <class V, class F, int groups, int tokens>
[[gnu::always_inline]] inline void accumulate(typename V::Floats (&acc)[groups][tokens],
                                              const Block<V, F::kind>* blocks, const Tokens& x) {
  typename V::Floats isum[groups][tokens];
  V::template dot<F>(isum, blocks, x);
  static_for<tokens>([&](auto t) {
    const auto da = V::broadcast(x.d[t * x.blocks]);
    static_for<groups>(
        [&](auto g) { acc[g][t] = V::fma(V::multiply(blocks[g].scale, da), isum[g][t], acc[g][t]); });
    if constexpr (F::kind == Kind::with_min) {
      const auto asum = V::broadcast(float(x.sum[t * x.blocks]));
      static_for<groups>(
          [&](auto g) { acc[g][t] = V::fma(V::multiply(blocks[g].min, da), asum, acc[g][t]); });
    }
  });
}

/// One group of rows times `tokens` tokens, straight from the weights. `next` is where the weights of the
/// following group begin: they are fetched while this group is computed, in the order they lie in memory, and
/// evenly: a processor that has a dozen lines under way computes nothing until it may ask for more.
template <class V, class F, int tokens>
[[gnu::flatten]] void few_tokens(float* y, int64_t y_stride, const std::byte* w, size_t w_row_bytes,
                                 const std::byte* next, const Tokens& all) {
  typename V::Floats acc[1][tokens];
  for (auto& a : acc[0]) a = V::broadcast(0.0f);
  constexpr int step_bytes = V::rows * F::L::bytes / F::span;
  static_assert(step_bytes * F::span == V::rows * F::L::bytes);
  for (int64_t b = 0; b < all.blocks; b += F::span) {
    F::unpack(
        w, w_row_bytes, [&](int i, const Block<V, F::kind>& block) __attribute__((always_inline)) {
          for (int line = 0; line < step_bytes; line += 64) __builtin_prefetch(next + i * step_bytes + line);
          accumulate<V, F, 1, tokens>(acc, &block, all.at(b + i));
        });
    next += step_bytes * F::span;
    w += F::L::bytes;
  }
  static_for<tokens>([&](auto t) { V::store(y + t * y_stride, acc[0][t]); });
}

/// A panel's rows times `tokens` tokens. The sums so far are in y unless this is the row's first segment.
template <class V, class F, int groups, int tokens>
[[gnu::flatten]] void tile(float* y, int64_t y_stride, const Block<V, F::kind>* panel, int64_t panel_length,
                           const Tokens& x, bool first_segment) {
  typename V::Floats acc[groups][tokens];
  static_for<groups>([&](auto g) {
    static_for<tokens>([&](auto t) {
      acc[g][t] = first_segment ? V::broadcast(0.0f) : V::load(y + t * y_stride + g * V::rows);
    });
  });
  for (int64_t b = 0; b < panel_length; ++b) {
    accumulate<V, F, groups, tokens>(acc, panel + b * groups, x.at(b));
  }
  static_for<groups>([&](auto g) {
    static_for<tokens>([&](auto t) { V::store(y + t * y_stride + g * V::rows, acc[g][t]); });
  });
}

/// The last tile of a panel: `tokens` is what is left, at most `most`.
template <class V, class F, int groups, int most>
void last_tile(float* y, int64_t y_stride, const Block<V, F::kind>* panel, int64_t panel_length,
               const Tokens& x, bool first_segment, int64_t tokens) {
  if constexpr (most > 0) {
    if (tokens == most) return tile<V, F, groups, most>(y, y_stride, panel, panel_length, x, first_segment);
    last_tile<V, F, groups, most - 1>(y, y_stride, panel, panel_length, x, first_segment, tokens);
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

/// `groups` groups of rows times all tokens.
template <class V, class F, int groups>
void panel_matmul(float* y, int64_t y_stride, const std::byte* w, size_t w_row_bytes, const Tokens& x,
                  int64_t tokens, std::byte* scratch) {
  using PanelBlock = Block<V, F::kind>;
  static_assert(sizeof(PanelBlock) <= size_t(V::rows * panel_row_block_bytes) && alignof(PanelBlock) <= 64);
  static_assert(groups * V::rows <= panel_rows && panel_blocks % F::span == 0);
  constexpr int tile_tokens = V::template tile_tokens<F>;
  auto* const panel = reinterpret_cast<PanelBlock*>(scratch);
  for (int64_t first = 0; first < x.blocks; first += panel_blocks) {
    const int64_t length = std::min(panel_blocks, x.blocks - first);
    fill_panel<V, F, groups>(panel, w + first / F::span * F::L::bytes, w_row_bytes, length);
    int64_t t = 0;
    for (; t + tile_tokens <= tokens; t += tile_tokens) {
      tile<V, F, groups, tile_tokens>(y + t * y_stride, y_stride, panel, length, x.at(first, t), first == 0);
    }
    last_tile<V, F, groups, tile_tokens - 1>(y + t * y_stride, y_stride, panel, length, x.at(first, t),
                                             first == 0, tokens - t);
  }
}

/// Rows at the end that fill no group are computed together with rows before them once more: the same bits.
template <class V, class F>
void all_rows(float* y, int64_t y_stride, const std::byte* w, size_t w_row_bytes, int64_t rows,
              const Tokens& x, int64_t tokens, std::byte* scratch) {
  constexpr int64_t group = V::rows;
  if (tokens < panel_from_tokens) {
    constexpr decltype(&few_tokens<V, F, 1>) kernel[] = {few_tokens<V, F, 1>, few_tokens<V, F, 2>,
                                                         few_tokens<V, F, 3>};
    static_assert(std::size(kernel) == panel_from_tokens - 1);
    for (int64_t r = 0; tokens > 0 && r < rows; r += group) {
      const int64_t start = std::min(r, rows - group);
      const int64_t next = std::min(r + group, rows - group);
      kernel[tokens - 1](y + start, y_stride, w + size_t(start) * w_row_bytes, w_row_bytes,
                         w + size_t(next) * w_row_bytes, x);
    }
    return;
  }
  for (int64_t r = 0; r < rows;) {
    const bool two = rows - r > group && rows >= 2 * group;
    const int64_t height = two ? 2 * group : group;
    const int64_t start = std::min(r, rows - height);
    (two ? panel_matmul<V, F, 2> : panel_matmul<V, F, 1>)(y + start, y_stride,
                                                          w + size_t(start) * w_row_bytes, w_row_bytes, x,
                                                          tokens, scratch);
    r = start + height;
  }
}

/// Fewer rows than a group has are left to `reference`.
template <class V, class F>
void matmul(KernelTable::MatMulQ reference, float* y, int64_t y_stride, const std::byte* w,
            size_t w_row_bytes, int64_t rows, const Q8Rows& x, int64_t tokens, std::byte* scratch) {
  if (rows < V::rows) return reference(y, y_stride, w, w_row_bytes, rows, x, tokens, scratch);
  if constexpr (F::kind == Kind::two_scales && V::unsigned_quants) {
    auto* const seeds = reinterpret_cast<int32_t*>(scratch + panel_bytes(x.cols));
    const int64_t strip = seed_tokens(x.cols);
    for (int64_t t = 0; t < tokens; t += strip) {
      const int64_t count = std::min(strip, tokens - t);
      fill_seeds<V, F::offset>(seeds, x.from(t, 0), count);
      Tokens seeded(x.from(t, 0));
      seeded.seeds = seeds;
      all_rows<V, F>(y + t * y_stride, y_stride, w, w_row_bytes, rows, seeded, count, scratch);
    }
  } else {
    all_rows<V, F>(y, y_stride, w, w_row_bytes, rows, Tokens(x), tokens, scratch);
  }
}

}  // namespace minfer::cpu::quant
