#include <cstring>

#include "backends/cpu/isa/quant_tokens.h"
#include "backends/cpu/ops/ops.h"

namespace minfer::cpu {
namespace {

constexpr int64_t block_cols = 32;

using Kernel = decltype(KernelTable::quantise_q8);

struct Call {
  Kernel kernel;
  Values x;
  int planes;
  const Q8Store* store;
  Q8Tokens to() const { return {store->memory.data(), x.cols, x.tokens * planes}; }
};

/// Room for a tile's rows before they are packed.
size_t scratch_bytes(int64_t cols) {
  return size_t(token_tile * cols / block_cols) * (block_cols + sizeof(float) + 2 * sizeof(int32_t));
}

/// Rows of `blocks` blocks each in a worker's scratch.
Q8Rows rows_in(std::byte* scratch, int64_t blocks) {
  const int64_t all = token_tile * blocks;
  std::byte* const d = scratch + all * block_cols;
  return {reinterpret_cast<int8_t*>(scratch), reinterpret_cast<float*>(d),
          reinterpret_cast<int32_t*>(d + all * int64_t(sizeof(float)))};
}

/// Quantises what `n` blocks of values lost when they were rounded to `plane`.
void quantise_rest(Kernel kernel, const Q8Rows& to, const Q8Rows& plane, const float* x, int64_t n) {
  for (int64_t b = 0; b < n; ++b) {
    float rest[block_cols];
    for (int64_t i = 0; i < block_cols; ++i) {
      const int64_t at = b * block_cols + i;
      rest[i] = x[at] - float(plane.q[at]) * plane.d[b];
    }
    kernel(to.from(b), rest, block_cols);
  }
}

/// These blocks of the tile that begins with `row`. A token's planes lie in one tile.
void quantise_tile(const Call& call, int64_t row, Range blocks, std::byte* scratch) {
  const Q8Tokens to = call.to();
  const int64_t n = blocks.end - blocks.begin, rows = std::min(token_tile, to.tokens - row);
  const Q8Rows all = rows_in(scratch, n);
  for (int64_t r = 0; r < rows; ++r) {
    const float* x = call.x.data + (row + r) / call.planes * call.x.cols + blocks.begin * block_cols;
    if ((row + r) % call.planes == 0) {
      call.kernel(all.from(r * n), x, n * block_cols);
    } else {
      quantise_rest(call.kernel, all.from(r * n), all.from((r - 1) * n), x, n);
    }
  }
  pack_tokens(to.tile(row), all, rows, blocks.begin, n);
}

}  // namespace

void emit_quantise(Encoder& encoder, const Values& x, int planes) {
  static_assert(token_tile % 2 == 0);
  encoder.need_scratch(scratch_bytes(x.cols));
  const Call call{encoder.kernels.quantise_q8, x, planes, encoder.q8()};
  const auto work = [call](const Lane& lane) {
    const Q8Tokens to = call.to();
    const auto quantise = [&](int64_t row, Range blocks) { quantise_tile(call, row, blocks, lane.scratch); };
    if (to.tokens <= token_tile) {
      constexpr int64_t step = 16;  // the blocks of a single tile are shared, else the tiles
      lane.share_out(to.blocks(), step, [&](Range blocks) { quantise(0, blocks); });
    } else {
      lane.share_out(to.tokens, token_tile, [&](Range rows) { quantise(rows.begin, {0, to.blocks()}); });
    }
  };
  encoder.step({"quantise_q8", work, {x.access()}, {encoder.q8_access()}, x.elements() <= solo_elements});
}

}  // namespace minfer::cpu
