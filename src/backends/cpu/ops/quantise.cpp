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
  Q8Tokens to() const { return {store->data, x.cols, x.tokens * planes}; }
};

/// Where a worker keeps a tile's rows of `blocks` blocks each before they are packed, and one row's rest.
struct Desk {
  float* rest;
  Q8Rows rows;

  Desk(std::byte* scratch, int64_t blocks) {
    const int64_t all = token_tile * blocks;
    rest = reinterpret_cast<float*>(scratch);
    rows.d = rest + blocks * block_cols;
    rows.sum = reinterpret_cast<int32_t*>(rows.d + all);
    rows.q = reinterpret_cast<int8_t*>(rows.sum + 2 * all);
  }
  static size_t bytes(int64_t cols) {
    const size_t block = block_cols + sizeof(float) + 2 * sizeof(int32_t);
    return size_t(cols) * sizeof(float) + size_t(token_tile * cols / block_cols) * block;
  }
};

/// What `n` blocks of values lost when they were rounded to `plane`.
void take_rest(float* rest, const Q8Rows& plane, const float* x, int64_t n) {
  for (int64_t b = 0; b < n; ++b) {
    for (int64_t i = b * block_cols; i < (b + 1) * block_cols; ++i) {
      rest[i] = x[i] - float(plane.q[i]) * plane.d[b];
    }
  }
}

/// These blocks of the tile that begins with `row`. A token's planes lie in one tile.
void quantise_tile(const Call& call, int64_t row, Range blocks, std::byte* scratch) {
  const Q8Tokens to = call.to();
  const int64_t n = blocks.end - blocks.begin, rows = std::min(token_tile, to.tokens - row);
  const Desk desk(scratch, n);
  for (int64_t r = 0; r < rows; ++r) {
    const float* x = call.x.data + (row + r) / call.planes * call.x.cols + blocks.begin * block_cols;
    const bool second = (row + r) % call.planes == 1;
    if (second) take_rest(desk.rest, desk.rows.from((r - 1) * n), x, n);
    call.kernel(desk.rows.from(r * n), second ? desk.rest : x, n * block_cols);
  }
  pack_tokens(to, row, desk.rows, blocks.begin, n);
}

/// Whole tiles of rows, or the last ones.
void quantise_rows(const Call& call, Range rows, std::byte* scratch) {
  const Range blocks{0, call.to().blocks()};
  for (int64_t row = rows.begin; row < rows.end; row += token_tile) {
    quantise_tile(call, row, blocks, scratch);
  }
}

}  // namespace

void emit_quantise(Encoder& encoder, const Values& x, int planes) {
  static_assert(token_tile % 2 == 0);
  encoder.need_scratch(Desk::bytes(x.cols));
  const Call call{encoder.kernels.quantise_q8, x, planes, encoder.q8()};
  const auto work = [call](const Lane& lane) {
    const Q8Tokens to = call.to();
    if (to.tokens <= token_tile) {
      constexpr int64_t step = 16;  // the blocks of a single tile are shared, else the tiles
      lane.share_out(to.blocks(), step, [&](Range blocks) { quantise_tile(call, 0, blocks, lane.scratch); });
    } else {
      lane.share_out(to.tokens, token_tile, [&](Range rows) { quantise_rows(call, rows, lane.scratch); });
    }
  };
  const auto of_tokens = [call](Range tokens, std::byte* scratch) {
    quantise_rows(call, {tokens.begin * call.planes, tokens.end * call.planes}, scratch);
  };
  const RowWork by_rows{x.tokens, of_tokens, true};
  const bool solo = x.elements() <= solo_elements;
  encoder.step({"quantise_q8", work, {x.access()}, {encoder.q8_access()}, by_rows, solo});
}

}  // namespace minfer::cpu
