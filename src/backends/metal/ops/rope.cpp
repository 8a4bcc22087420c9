#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>

#include "backends/metal/kernels/rope_args.h"
#include "backends/metal/ops/ops.h"

namespace minfer::metal {
namespace {

constexpr int64_t heads_a_thread = 4;  // as in rope.metal
constexpr int64_t tokens_a_group = 4;

/// `turns` without its whole ones, as a fraction of 64 bits.
RopeFrequency fraction_of(double turns) {
  double part = turns - std::floor(turns);
  if (part >= 1.0) part = 0.0;  // a small negative number, rounded up
  const double high = std::floor(part * 0x1p32);
  const double low = std::floor((part * 0x1p32 - high) * 0x1p32);
  return {uint32_t(high), uint32_t(low)};
}

size_t groups(int64_t count, int64_t a_group) { return size_t((count + a_group - 1) / a_group); }

}  // namespace

KernelNames rope_kernels() { return {"rope_f32"}; }

Span rope_frequencies(Encoder& encoder, const Node& node, const RopeParams& rope, int64_t head_dim) {
  const int64_t pairs = head_dim / 2;
  const std::byte* factors = rope.factors ? encoder.vector(node, *rope.factors, pairs).host() : nullptr;
  Scratch& memory =
      encoder.scratch(fmt::format("rope frequencies: base {}, scale {}, width {}, factors {}", rope.base,
                                  rope.scale, head_dim, rope.factors ? rope.factors->name : "none"));
  const Span table =
      memory.ensure(size_t(pairs) * sizeof(RopeFrequency)).part(0, size_t(pairs) * sizeof(RopeFrequency));
  // Every program that names this memory writes the same bytes, so one that still runs may read on.
  for (int64_t i = 0; i < pairs; ++i) {
    float factor = 1.0f;
    if (factors) std::memcpy(&factor, factors + size_t(i) * sizeof factor, sizeof factor);
    const double angle =
        double(rope.scale) * std::pow(double(rope.base), -2.0 * double(i) / double(head_dim)) / factor;
    if (!std::isfinite(angle)) {
      refuse(node, ErrorCode::bad_model,
             fmt::format("the angle of pair {} is {}: its factor is {}", i, angle, factor));
    }
    const RopeFrequency frequency = fraction_of(angle / (2.0 * std::numbers::pi));
    std::memcpy(table.host() + size_t(i) * sizeof frequency, &frequency, sizeof frequency);
  }
  return table;
}

void emit_rope(Encoder& encoder, const Node& node, const RopeParams& rope, int64_t head_dim, const Values& y,
               const Values& x, const Span& positions) {
  const int64_t pairs = head_dim / 2, heads = x.cols / head_dim;
  const RopeArgs args{int32_t(head_dim), int32_t(heads), int32_t(x.tokens),
                      rope.style == RopeStyle::interleaved ? 1 : 0};
  const int64_t tokens = std::min(x.tokens, tokens_a_group);
  const Span frequencies = rope_frequencies(encoder, node, rope, head_dim);
  encoder.dispatch(node, "rope_f32")
      .args(args)
      .read(1, x.span)
      .read(2, positions)
      .read(3, frequencies)
      .write(4, y.span)
      .grid({groups(pairs, 32), groups(x.tokens, tokens), groups(heads, heads_a_thread)},
            {32, size_t(tokens), 1});
}

void encode_rope(Encoder& encoder, const PlacedNode& placed) {
  const Node& node = *placed.node;
  const Rope& op = std::get<Rope>(node.op);
  const Values x = source(placed, 0), y = output(placed);
  if (x.cols != op.head_dim * op.n_heads || y.elements() != x.elements()) {
    refuse(node, ErrorCode::bad_model,
           fmt::format("the source is {}, the output {}, expected {} heads of {}",
                       to_string(placed.sources[0].desc), to_string(placed.output.desc), op.n_heads,
                       op.head_dim));
  }
  const int32_t* positions = encoder.indices(node, placed.sources[1], x.tokens);
  check_indices(encoder, node, "position", positions, x.tokens, std::numeric_limits<int32_t>::max());
  emit_rope(encoder, node, op.rope, op.head_dim, y, x, span_of(node, placed.sources[1]));
}

}  // namespace minfer::metal
