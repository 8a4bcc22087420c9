#pragma once
#include <algorithm>

#include "kernels/kernel_test.h"

/// Attention inputs and the loop over tiles that a caller of attend writes.
namespace minfer::cpu::test {

/// Queries of one KV head and `context` rows of keys and values, k and v in one row as a cache may have them.
struct AttendCase {
  int64_t head_dim, n_q, context;
  int64_t stride;  ///< floats between rows of k, and of v
  float scale;
  DType type = DType::f32;  ///< what the kernel reads: k and v themselves, or packed copies of them
  std::vector<std::byte> packed_k, packed_v;
  mutable Guarded<float> q, k, v;

  AttendCase(int64_t head_dim_, int64_t n_q_, int64_t context_, bool wild = false)
      : head_dim(head_dim_),
        n_q(n_q_),
        context(context_),
        stride(head_dim_ + 3),
        scale(1.0f / std::sqrt(float(head_dim_))),
        q(normal_values(n_q_ * head_dim_, 1), 1),
        k(wild ? wild_values(context_ * stride, 2) : normal_values(context_ * stride, 2), 2),
        v(normal_values(context_ * stride, 3), 3) {}

  /// The same rows as f16 or q8_0, which the kernel then reads instead.
  void pack(DType to) {
    type = to;
    packed_k = packed(k);
    packed_v = packed(v);
  }

  size_t row_stride() const {
    if (type == DType::f32) return size_t(stride) * sizeof(float);
    if (type == DType::f16) return size_t(stride) * sizeof(uint16_t);
    return size_t((head_dim + 31) / 32 * 34 + 4);
  }

  KvTile tile(int64_t row, int64_t rows) const {
    const bool plain = type == DType::f32;
    const auto* keys = plain ? reinterpret_cast<const std::byte*>(k.data()) : packed_k.data();
    const auto* values = plain ? reinterpret_cast<const std::byte*>(v.data()) : packed_v.data();
    const size_t at = size_t(row) * row_stride();
    return {type, keys + at, values + at, row_stride(), rows, 3 * row_stride()};
  }

 private:
  std::vector<std::byte> packed(Guarded<float>& from) const {
    std::vector<std::byte> all(size_t(context) * row_stride());
    std::vector<float> row(size_t((head_dim + 31) / 32 * 32));
    for (int64_t j = 0; j < context; ++j) {
      std::copy_n(from.data() + j * stride, head_dim, row.begin());
      std::byte* to = all.data() + size_t(j) * row_stride();
      if (type == DType::f16) {
        scalar_table().store_f16(reinterpret_cast<uint16_t*>(to), row.data(), head_dim);
      } else {
        scalar_table().store_q8_0(to, row.data(), int64_t(row.size()));
      }
    }
    return all;
  }
};

struct AttendState {
  Guarded<float> m, s, o;

  AttendState(int64_t n_q, int64_t head_dim) : m(n_q, 1), s(n_q, 1), o(n_q * head_dim, 1) {
    for (int64_t i = 0; i < n_q; ++i) m[i] = -std::numeric_limits<float>::infinity(), s[i] = 0.0f;
    for (int64_t i = 0; i < n_q * head_dim; ++i) o[i] = 0.0f;
  }
};

/// Query i sees rows [0, visible[i]); tiles start at multiples of attn_tile_rows from `first_row`.
inline void attend_tiles(const KernelTable& table, const AttendCase& c, const std::vector<int32_t>& visible,
                         AttendState& state, int64_t first_row = 0, int64_t end_row = INT64_MAX,
                         bool wide = false) {
  const auto round_up = [](int64_t n) { return (n + 15) / 16 * 16; };
  Guarded<float> laid(round_up(c.n_q) * round_up(c.head_dim), 3);
  if (wide) table.lay_queries(laid.data(), c.q.data(), c.head_dim, c.n_q, c.head_dim);
  REQUIRE(laid.guards_intact());
  for (int64_t row = first_row; row < std::min(end_row, c.context); row += attn_tile_rows) {
    const int64_t rows = std::min({attn_tile_rows, c.context - row, end_row - row});
    std::vector<int32_t> in_tile;
    for (const int32_t v : visible) in_tile.push_back(int32_t(std::clamp<int64_t>(v - row, 0, rows)));
    if (wide) {
      table.attend_wide(laid.data(), c.n_q, c.tile(row, rows), c.head_dim, c.scale, in_tile.data(),
                        state.m.data(), state.s.data(), state.o.data(), c.head_dim);
    } else {
      table.attend(c.q.data(), c.head_dim, c.n_q, c.tile(row, rows), c.head_dim, c.scale, in_tile.data(),
                   state.m.data(), state.s.data(), state.o.data(), c.head_dim);
    }
  }
}

}  // namespace minfer::cpu::test
