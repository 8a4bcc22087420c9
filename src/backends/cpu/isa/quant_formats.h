#pragma once
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "backends/cpu/isa/quant_blocks.h"
#include "backends/cpu/isa/quant_tokens.h"

/// The block formats unpacked for one group of rows at once, whatever the vector width. `V` is an instruction
/// set's vectors (isa/NAME_quant_simd.h): a vector has one 32-bit word per row of the group, rows in order.
namespace minfer::cpu::quant {

/// What a format's block has besides quants and a scale.
enum class Kind {
  plain,
  with_min,    ///< value = scale * q + min
  two_scales,  ///< the second 16 quants have a scale of their own
};

/// One block of 32 columns of a group of rows. Word i of a row holds quants 4i .. 4i+3.
template <class V, Kind kind>
struct Block {
  typename V::Bytes q[8];
  typename V::Floats scale, origin;  ///< origin: -dot_origin * scale
};
template <class V>
struct Block<V, Kind::with_min> {
  typename V::Bytes q[8];
  typename V::Floats scale, origin, min;
};
template <class V>
struct Block<V, Kind::two_scales> {
  typename V::Bytes q[8];
  typename V::Floats scale, origin, second_scale;
};

template <class V, Kind kind>
[[gnu::always_inline]] inline void set_scale(Block<V, kind>& block, typename V::Floats scale) {
  block.scale = scale;
  block.origin = V::multiply(scale, V::broadcast(-dot_origin));
}

/// body(0), ..., body(n - 1) with the index as a compile-time constant.
template <int n, class Body>
[[gnu::always_inline]] inline void static_for(Body&& body) {
  [&]<int... i>(std::integer_sequence<int, i...>) __attribute__((always_inline)) {
    (body(std::integral_constant<int, i>{}), ...);
  }
  (std::make_integer_sequence<int, n>{});
}

/// Bytes p .. p+15 of every row, four to a word: out[i] has bytes 4i .. 4i+3 of each row.
template <class V>
[[gnu::always_inline]] inline void load_16(typename V::Bytes* out, const std::byte* p, size_t stride) {
  static_for<4>([&](auto i) { out[i] = V::load_every_fourth(p + i * stride, 4 * stride); });
  V::transpose(out);
}

/// Quants of 32 nibbles: the low ones of the 16 bytes, then the high ones.
template <class V>
[[gnu::always_inline]] inline void load_nibbles(typename V::Bytes* q, const std::byte* p, size_t stride) {
  load_16<V>(q, p, stride);
  static_for<4>([&](auto i) {
    q[i + 4] = V::high_nibbles(q[i]);
    q[i] = V::low_nibbles(q[i]);
  });
}

/// Adds 16 to quant e of each row where bit e of the row's word is set.
template <class V>
[[gnu::always_inline]] inline void add_fifth_bits(typename V::Bytes* q, typename V::Words bits) {
  static_for<8>([&](auto i) {
    constexpr uint32_t bit_of_byte = i % 2 == 0 ? 0x08040201u : 0x80402010u;
    q[i] = V::bit_or(q[i], V::sixteen_where(V::template spread_byte<i / 2>(bits), bit_of_byte));
  });
}

/// Each format says: its block bytes, how many blocks of 32 columns one holds (`span`), the offset that its
/// unsigned quants carry, the largest quant, and sink(i, block) for each of them in order.
template <class V>
struct Q4_0 {
  using L = layout::Q4_0;
  static constexpr Kind kind = Kind::plain;
  static constexpr int span = 1, offset = 8, largest = 15;
  template <class Sink>
  [[gnu::always_inline]] static void unpack(const std::byte* p, size_t stride, Sink&& sink) {
    Block<V, kind> block;
    load_nibbles<V>(block.q, p + L::nibbles, stride);
    set_scale(block, V::load_halves(p + L::d, stride));
    sink(0, block);
  }
};

template <class V>
struct Q4_1 {
  using L = layout::Q4_1;
  static constexpr Kind kind = Kind::with_min;
  static constexpr int span = 1, offset = 0, largest = 15;
  template <class Sink>
  [[gnu::always_inline]] static void unpack(const std::byte* p, size_t stride, Sink&& sink) {
    Block<V, kind> block;
    load_nibbles<V>(block.q, p + L::nibbles, stride);
    const auto d_m = V::load_words(p + L::d, stride);
    set_scale(block, V::low_half(d_m));
    block.min = V::high_half(d_m);
    sink(0, block);
  }
};

template <class V>
struct Q5_0 {
  using L = layout::Q5_0;
  static constexpr Kind kind = Kind::plain;
  static constexpr int span = 1, offset = 16, largest = 31;
  template <class Sink>
  [[gnu::always_inline]] static void unpack(const std::byte* p, size_t stride, Sink&& sink) {
    Block<V, kind> block;
    load_nibbles<V>(block.q, p + L::nibbles, stride);
    add_fifth_bits<V>(block.q, V::load_words(p + L::high, stride));
    set_scale(block, V::load_halves(p + L::d, stride));
    sink(0, block);
  }
};

template <class V>
struct Q5_1 {
  using L = layout::Q5_1;
  static constexpr Kind kind = Kind::with_min;
  static constexpr int span = 1, offset = 0, largest = 31;
  template <class Sink>
  [[gnu::always_inline]] static void unpack(const std::byte* p, size_t stride, Sink&& sink) {
    Block<V, kind> block;
    load_nibbles<V>(block.q, p + L::nibbles, stride);
    add_fifth_bits<V>(block.q, V::load_words(p + L::high, stride));
    const auto d_m = V::load_words(p + L::d, stride);
    set_scale(block, V::low_half(d_m));
    block.min = V::high_half(d_m);
    sink(0, block);
  }
};

template <class V>
struct Q8_0 {
  using L = layout::Q8_0;
  static constexpr Kind kind = Kind::plain;
  static constexpr int span = 1, offset = V::signed_offset, largest = 128;
  template <class Sink>
  [[gnu::always_inline]] static void unpack(const std::byte* p, size_t stride, Sink&& sink) {
    Block<V, kind> block;
    load_16<V>(block.q, p + L::quants, stride);
    load_16<V>(block.q + 4, p + L::quants + 16, stride);
    static_for<8>([&](auto i) { block.q[i] = V::from_signed(block.q[i]); });
    set_scale(block, V::load_halves(p + L::d, stride));
    sink(0, block);
  }
};

/// The scales and minima of the eight sub-blocks of a Q4_K or Q5_K block, four bytes to a word.
template <class V>
struct KScales {
  typename V::Floats d, minus_dmin;
  typename V::Bytes scales[2], mins[2];

  /// `p`: d, dmin and the twelve scale bytes stand together in the block's first 16 bytes.
  [[gnu::always_inline]] KScales(const std::byte* p, size_t stride) {
    typename V::Bytes head[4];
    load_16<V>(head, p, stride);
    d = V::low_half(V::words(head[0]));
    minus_dmin = V::negate(V::high_half(V::words(head[0])));
    scales[0] = V::template bits<0x3f>(head[1]);
    mins[0] = V::template bits<0x3f>(head[2]);
    scales[1] = V::bit_or(V::low_nibbles(head[3]), V::template shift_bits<-2, 0x30>(head[1]));
    mins[1] = V::bit_or(V::high_nibbles(head[3]), V::template shift_bits<-2, 0x30>(head[2]));
  }
  template <int j>
  [[gnu::always_inline]] void set(Block<V, Kind::with_min>& block) const {
    set_scale(block, V::multiply(d, V::to_floats(V::template byte<j % 4>(V::words(scales[j / 4])))));
    block.min = V::multiply(minus_dmin, V::to_floats(V::template byte<j % 4>(V::words(mins[j / 4]))));
  }
};

template <class V>
struct Q4_K {
  using L = layout::Q4_K;
  static constexpr Kind kind = Kind::with_min;
  static constexpr int span = 8, offset = 0, largest = 15;
  template <class Sink>
  [[gnu::always_inline]] static void unpack(const std::byte* p, size_t stride, Sink&& sink) {
    const KScales<V> scales(p + L::d, stride);
    static_for<4>([&](auto g) {
      typename V::Bytes pairs[8];
      load_16<V>(pairs, p + L::nibbles + 32 * g, stride);
      load_16<V>(pairs + 4, p + L::nibbles + 32 * g + 16, stride);
      Block<V, kind> block;
      static_for<8>([&](auto i) { block.q[i] = V::low_nibbles(pairs[i]); });
      scales.template set<2 * g>(block);
      sink(2 * g, block);
      static_for<8>([&](auto i) { block.q[i] = V::high_nibbles(pairs[i]); });
      scales.template set<2 * g + 1>(block);
      sink(2 * g + 1, block);
    });
  }
};

template <class V>
struct Q5_K {
  using L = layout::Q5_K;
  static constexpr Kind kind = Kind::with_min;
  static constexpr int span = 8, offset = 0, largest = 31;
  template <class Sink>
  [[gnu::always_inline]] static void unpack(const std::byte* p, size_t stride, Sink&& sink) {
    const KScales<V> scales(p + L::d, stride);
    typename V::Bytes high[8];
    load_16<V>(high, p + L::high, stride);
    load_16<V>(high + 4, p + L::high + 16, stride);
    static_for<4>([&](auto g) {
      typename V::Bytes pairs[8];
      load_16<V>(pairs, p + L::nibbles + 32 * g, stride);
      load_16<V>(pairs + 4, p + L::nibbles + 32 * g + 16, stride);
      Block<V, kind> block;
      static_for<8>([&](auto i) {
        block.q[i] = V::bit_or(V::low_nibbles(pairs[i]), V::template shift_bits<4 - 2 * g, 16>(high[i]));
      });
      scales.template set<2 * g>(block);
      sink(2 * g, block);
      static_for<8>([&](auto i) {
        block.q[i] = V::bit_or(V::high_nibbles(pairs[i]), V::template shift_bits<3 - 2 * g, 16>(high[i]));
      });
      scales.template set<2 * g + 1>(block);
      sink(2 * g + 1, block);
    });
  }
};

template <class V>
struct Q6_K {
  using L = layout::Q6_K;
  static constexpr Kind kind = Kind::two_scales;
  static constexpr int span = 8, offset = 32, largest = 63;
  template <class Sink>
  [[gnu::always_inline]] static void unpack(const std::byte* p, size_t stride, Sink&& sink) {
    const auto d = V::load_halves(p + L::d, stride);
    typename V::Bytes scales[4];
    load_16<V>(scales, p + L::scales, stride);
    static_for<2>([&](auto half) {
      typename V::Bytes low[16], high[8];
      static_for<4>([&](auto i) { load_16<V>(low + 4 * i, p + L::low + 64 * half + 16 * i, stride); });
      static_for<2>([&](auto i) { load_16<V>(high + 4 * i, p + L::high + 32 * half + 16 * i, stride); });
      static_for<4>([&](auto j) {
        Block<V, kind> block;
        static_for<8>([&](auto i) {
          const auto pair = low[8 * (j % 2) + i];
          const auto nibbles = j < 2 ? V::low_nibbles(pair) : V::high_nibbles(pair);
          block.q[i] = V::bit_or(nibbles, V::template shift_bits<4 - 2 * j, 0x30>(high[i]));
        });
        const auto words = V::words(scales[2 * half + j / 2]);
        // A half times a byte is exact.
        const auto first = V::to_floats(V::template signed_byte<2 * (j % 2)>(words));
        const auto second = V::to_floats(V::template signed_byte<2 * (j % 2) + 1>(words));
        set_scale(block, V::multiply(d, first));
        block.second_scale = V::multiply(d, second);
        sink(4 * half + j, block);
      });
    });
  }
};

}  // namespace minfer::cpu::quant
