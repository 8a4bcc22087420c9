#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "backends/cpu/ops/ops.h"

namespace minfer::cpu {

const RopeTable& Encoder::rope_table(const Node& node, const RopeParams& rope, int64_t head_dim,
                                     const int32_t* positions, int64_t tokens) {
  for (const KeyedRope& known : ropes_) {
    const bool same = known.rope == rope && known.head_dim == head_dim && known.positions == positions &&
                      known.table->access.bytes == size_t(tokens * head_dim) * sizeof(float);
    if (same) return *known.table;
  }
  check_indices(*this, node, "position", positions, tokens, std::numeric_limits<int32_t>::max());

  // In double throughout: at position 32767 a float angle is off by a thousandth of a radian.
  const int64_t pairs = head_dim / 2;
  const float* factors = rope.factors ? vector(node, *rope.factors, pairs) : nullptr;
  std::vector<double> powers(static_cast<size_t>(pairs)), divisors(static_cast<size_t>(pairs), 1.0);
  for (int64_t i = 0; i < pairs; ++i) {
    powers[size_t(i)] = std::pow(double(rope.base), -2.0 * double(i) / double(head_dim));
    if (factors) divisors[size_t(i)] = double(factors[i]);
  }
  auto* cos = reinterpret_cast<float*>(own(size_t(tokens * head_dim) * sizeof(float)));
  float* sin = cos + tokens * pairs;
  const Access access{cos, size_t(tokens * head_dim) * sizeof(float)};
  const bool solo = tokens * pairs <= 64;
  const auto work = [=, scale = double(rope.scale), powers = std::move(powers),
                     divisors = std::move(divisors)](const Lane& lane) {
    const Range mine = share(tokens, 1, lane.worker);
    for (int64_t t = mine.begin; t < mine.end; ++t) {
      for (int64_t i = 0; i < pairs; ++i) {
        const double theta = double(positions[t]) * scale * powers[size_t(i)] / divisors[size_t(i)];
        cos[t * pairs + i] = float(std::cos(theta));
        sin[t * pairs + i] = float(std::sin(theta));
      }
    }
  };
  step({"rope_table", work, {}, {access}, {}, solo});
  ropes_.push_back(
      {rope, head_dim, positions, std::make_unique<RopeTable>(RopeTable{cos, sin, pairs, access})});
  return *ropes_.back().table;
}

void emit_rope(Encoder& encoder, const Values& y, const Values& x, const RopeTable& table, RopeStyle style,
               int64_t head_dim) {
  const int64_t heads = x.cols / head_dim;
  const bool solo = x.elements() <= solo_elements;
  const bool interleaved = style == RopeStyle::interleaved;
  const auto rotate = [=, kernel = encoder.kernels.rope_f32](Range mine) {
    for (int64_t at = mine.begin; at < mine.end;) {
      const int64_t token = at / heads, count = std::min(mine.end - at, heads - at % heads);
      float* to = y.data + at * head_dim;
      const float* from = x.data + at * head_dim;
      if (to != from) std::memcpy(to, from, size_t(count * head_dim) * sizeof(float));
      kernel(to, table.cos + token * table.pairs, table.sin + token * table.pairs, count, head_dim,
             interleaved);
      at += count;
    }
  };
  const auto work = [=](const Lane& lane) { rotate(share(x.tokens * heads, 1, lane.worker)); };
  const auto of_tokens = [=](Range tokens, std::byte*) {
    rotate({tokens.begin * heads, tokens.end * heads});
  };
  encoder.step({"rope", work, {x.access(), table.access}, {y.access()}, {x.tokens, of_tokens}, solo});
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
  const RopeTable& table = encoder.rope_table(node, op.rope, op.head_dim, positions, x.tokens);
  emit_rope(encoder, y, x, table, op.rope.style, op.head_dim);
}

}  // namespace minfer::cpu
