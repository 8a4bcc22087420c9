// Operations among the 32 lanes of a simdgroup: shuffles, broadcasts, reductions, prefix operations, votes.
//
// A lane puts its value into its slot and meets the others; the last to arrive computes what is the same for
// all before any other has resumed. Only live lanes take part: those that exist and have not returned. A slot
// without a live lane reads as all ones (a NaN), since Metal leaves it undefined.
#pragma once

#include "barrier.h"
#include "common.h"

namespace metalsim::lib {

/// The values of one operation's lanes.
template <class T>
class Lanes {
 public:
  MSL_RUNTIME_FN explicit Lanes(unsigned char (*slots)[exchange_bytes]) : slots_(slots) {}
  MSL_RUNTIME_FN T operator[](uint32_t lane) const {
    T value;
    __builtin_memcpy(&value, slots_[lane], sizeof(T));
    return value;
  }
  MSL_RUNTIME_FN void set(uint32_t lane, T value) const { __builtin_memcpy(slots_[lane], &value, sizeof(T)); }

 private:
  unsigned char (*slots_)[exchange_bytes];
};

MSL_RUNTIME_PART uint32_t this_lane() { return current_thread->lane; }

/// Shares `value` and meets. `compute(lanes, live_mask)` runs in the last lane to arrive.
template <class T, class F>
MSL_RUNTIME_FN Lanes<T> exchange(T value, SourceLocation at, F compute) {
  static_assert(sizeof(T) <= exchange_bytes, "a lane can share values of at most 16 bytes");
  Thread* const thread = current_thread;
  Simdgroup* const group = thread->simdgroup;
  const uint32_t parity = thread->parity++ & 1;
  const Lanes<T> lanes(group->slot[parity]);
  lanes.set(thread->lane, value);
  if (simd_meet(at)) {
    const uint32_t live = group->live_mask;
    if (live != 0xffffffffu)
      for (uint32_t lane = 0; lane < simd_width; ++lane)
        if (!(live >> lane & 1)) __builtin_memset(group->slot[parity][lane], 0xff, exchange_bytes);
    compute(lanes, live);
  }
  return lanes;
}
template <class T>
MSL_RUNTIME_FN Lanes<T> exchange(T value, SourceLocation at) {
  return exchange(value, at, [](const Lanes<T>&, uint32_t) {});
}

/// Combines the live lanes' values in a tree (lane l with l + 16, then 8 and so on), as shuffles would,
/// within each `width` lanes. Every slot receives its group's result.
template <class T, class F>
MSL_RUNTIME_FN void combine(const Lanes<T>& lanes, uint32_t live, uint32_t width, F f) {
  for (uint32_t first = 0; first < simd_width; first += width) {
    T value[simd_width];
    uint32_t present = live >> first & (width == simd_width ? 0xffffffffu : (1u << width) - 1);
    if (present == 0) continue;
    for (uint32_t i = 0; i < width; ++i)
      if (present >> i & 1) value[i] = lanes[first + i];
    for (uint32_t step = width / 2; step; step /= 2) {
      for (uint32_t i = 0; i < step; ++i) {
        if (!(present >> (i + step) & 1)) continue;
        value[i] = present >> i & 1 ? f(value[i], value[i + step]) : value[i + step];
        present |= 1u << i;
      }
    }
    for (uint32_t i = 0; i < width; ++i) lanes.set(first + i, value[0]);
  }
}

/// Running results from the lowest live lane up, within each `width` lanes. Exclusive: lane l gets what lies
/// below it.
template <class T, class F>
MSL_RUNTIME_FN void scan(const Lanes<T>& lanes, uint32_t live, uint32_t width, bool inclusive, T start, F f) {
  T running = start;
  for (uint32_t lane = 0; lane < simd_width; ++lane) {
    if (lane % width == 0) running = start;
    if (!(live >> lane & 1)) continue;
    const T next = f(running, lanes[lane]);
    lanes.set(lane, inclusive ? next : running);
    running = next;
  }
}

template <class T, class F>
MSL_RUNTIME_FN T reduce(T value, uint32_t width, SourceLocation at, F f) {
  const auto lanes =
      exchange(value, at, [width, f](const Lanes<T>& all, uint32_t live) { combine(all, live, width, f); });
  return lanes[this_lane()];
}
template <class T, class F>
MSL_RUNTIME_FN T prefix(T value, uint32_t width, bool inclusive, T start, SourceLocation at, F f) {
  const auto lanes = exchange(
      value, at, [=](const Lanes<T>& all, uint32_t live) { scan(all, live, width, inclusive, start, f); });
  return lanes[this_lane()];
}

/// For each live lane, in bit l of a mask, what `value` is in lane l.
MSL_RUNTIME_FN uint32_t ballot(bool value, SourceLocation at) {
  const auto lanes = exchange(uint32_t(value), at, [](const Lanes<uint32_t>& all, uint32_t live) {
    uint32_t mask = 0;
    for (uint32_t lane = 0; lane < simd_width; ++lane)
      if (live >> lane & 1) mask |= all[lane] << lane;
    for (uint32_t lane = 0; lane < simd_width; ++lane) all.set(lane, mask);
  });
  return lanes[this_lane()];
}

/// data[lane + delta] within each `modulo` lanes; what runs over the end comes from the begin of `filling`.
template <class T>
MSL_RUNTIME_FN T fill_from(T data, T filling, int delta, uint32_t modulo, SourceLocation at) {
  const auto values = exchange(data, at);
  const auto fillings = exchange(filling, at);
  const uint32_t lane = this_lane(), first = lane / modulo * modulo;
  const int source = int(lane - first) + delta;
  if (source < 0) return fillings[first + uint32_t(source + int(modulo)) % modulo];
  return source < int(modulo) ? values[first + uint32_t(source)]
                              : fillings[first + uint32_t(source) % modulo];
}

struct Add {
  template <class T>
  MSL_RUNTIME_FN T operator()(T a, T b) const {
    return T(a + b);
  }
};
struct Multiply {
  template <class T>
  MSL_RUNTIME_FN T operator()(T a, T b) const {
    return T(a * b);
  }
};
struct Least {
  template <class T>
  MSL_RUNTIME_FN T operator()(T a, T b) const {
    return metal::min(a, b);
  }
};
struct Greatest {
  template <class T>
  MSL_RUNTIME_FN T operator()(T a, T b) const {
    return metal::max(a, b);
  }
};
struct BitAnd {
  template <class T>
  MSL_RUNTIME_FN T operator()(T a, T b) const {
    return T(a & b);
  }
};
struct BitOr {
  template <class T>
  MSL_RUNTIME_FN T operator()(T a, T b) const {
    return T(a | b);
  }
};
struct BitXor {
  template <class T>
  MSL_RUNTIME_FN T operator()(T a, T b) const {
    return T(a ^ b);
  }
};

}  // namespace metalsim::lib

// The place of the kernel's call, for reports of divergence.
#define MSL_AT metalsim::SourceLocation at = metalsim::SourceLocation::here()

// Each function exists for the simdgroup and, over four lanes, for the quadgroup.
#define MSL_REDUCTION(name, Operation)                                      \
  template <class T>                                                        \
  MSL_RUNTIME_FN T simd_##name(T data, MSL_AT) {                            \
    return metalsim::lib::reduce(data, 32, at, metalsim::lib::Operation()); \
  }                                                                         \
  template <class T>                                                        \
  MSL_RUNTIME_FN T quad_##name(T data, MSL_AT) {                            \
    return metalsim::lib::reduce(data, 4, at, metalsim::lib::Operation());  \
  }
#define MSL_PREFIX(name, Operation, start)                                                   \
  template <class T>                                                                         \
  MSL_RUNTIME_FN T simd_prefix_inclusive_##name(T data, MSL_AT) {                            \
    return metalsim::lib::prefix(data, 32, true, T(start), at, metalsim::lib::Operation());  \
  }                                                                                          \
  template <class T>                                                                         \
  MSL_RUNTIME_FN T simd_prefix_exclusive_##name(T data, MSL_AT) {                            \
    return metalsim::lib::prefix(data, 32, false, T(start), at, metalsim::lib::Operation()); \
  }                                                                                          \
  template <class T>                                                                         \
  MSL_RUNTIME_FN T quad_prefix_inclusive_##name(T data, MSL_AT) {                            \
    return metalsim::lib::prefix(data, 4, true, T(start), at, metalsim::lib::Operation());   \
  }                                                                                          \
  template <class T>                                                                         \
  MSL_RUNTIME_FN T quad_prefix_exclusive_##name(T data, MSL_AT) {                            \
    return metalsim::lib::prefix(data, 4, false, T(start), at, metalsim::lib::Operation());  \
  }
// `source` is computed from the lane's index `l` and its first lane `base` in the group of `width`.
#define MSL_SHUFFLE(name, argument, source)                                                         \
  template <class T>                                                                                \
  MSL_RUNTIME_FN T simd_##name(T data, ushort argument, MSL_AT) {                                   \
    [[maybe_unused]] constexpr uint width = 32;                                                     \
    const auto lanes = metalsim::lib::exchange(data, at);                                           \
    [[maybe_unused]] const uint lane = metalsim::lib::this_lane(), base = 0, l = lane;              \
    return lanes[base + (source)];                                                                  \
  }                                                                                                 \
  template <class T>                                                                                \
  MSL_RUNTIME_FN T quad_##name(T data, ushort argument, MSL_AT) {                                   \
    [[maybe_unused]] constexpr uint width = 4;                                                      \
    const auto lanes = metalsim::lib::exchange(data, at);                                           \
    [[maybe_unused]] const uint lane = metalsim::lib::this_lane(), base = lane & ~3u, l = lane & 3; \
    return lanes[base + (source)];                                                                  \
  }

namespace metal {

MSL_REDUCTION(sum, Add)
MSL_REDUCTION(product, Multiply)
MSL_REDUCTION(min, Least)
MSL_REDUCTION(max, Greatest)
MSL_REDUCTION(and, BitAnd)
MSL_REDUCTION(or, BitOr)
MSL_REDUCTION(xor, BitXor)
MSL_PREFIX(sum, Add, 0)
MSL_PREFIX(product, Multiply, 1)

MSL_SHUFFLE(shuffle, source_lane, source_lane % width)
MSL_SHUFFLE(broadcast, source_lane, source_lane % width)
MSL_SHUFFLE(shuffle_xor, mask, (l ^ mask) % width)
// Past the ends the lane keeps its own value.
MSL_SHUFFLE(shuffle_up, delta, l >= delta ? l - delta : l)
MSL_SHUFFLE(shuffle_down, delta, l + delta < width ? l + delta : l)
MSL_SHUFFLE(shuffle_rotate_up, delta, (l + width - delta % width) % width)
MSL_SHUFFLE(shuffle_rotate_down, delta, (l + delta) % width)

template <class T>
MSL_RUNTIME_FN T simd_shuffle_and_fill_down(T data, T filling, ushort delta, ushort modulo = 32, MSL_AT) {
  return metalsim::lib::fill_from(data, filling, int(delta), modulo, at);
}
template <class T>
MSL_RUNTIME_FN T simd_shuffle_and_fill_up(T data, T filling, ushort delta, ushort modulo = 32, MSL_AT) {
  return metalsim::lib::fill_from(data, filling, -int(delta), modulo, at);
}
template <class T>
MSL_RUNTIME_FN T quad_shuffle_and_fill_down(T data, T filling, ushort delta, ushort modulo = 4, MSL_AT) {
  return metalsim::lib::fill_from(data, filling, int(delta), modulo, at);
}
template <class T>
MSL_RUNTIME_FN T quad_shuffle_and_fill_up(T data, T filling, ushort delta, ushort modulo = 4, MSL_AT) {
  return metalsim::lib::fill_from(data, filling, -int(delta), modulo, at);
}

/// The value of the lowest live lane.
template <class T>
MSL_RUNTIME_FN T simd_broadcast_first(T data, MSL_AT) {
  const auto lanes = metalsim::lib::exchange(data, at, [](const metalsim::lib::Lanes<T>& all, uint live) {
    const T first = all[uint(__builtin_ctz(live))];
    for (uint lane = 0; lane < 32; ++lane) all.set(lane, first);
  });
  return lanes[metalsim::lib::this_lane()];
}
template <class T>
MSL_RUNTIME_FN T quad_broadcast_first(T data, MSL_AT) {
  const auto lanes = metalsim::lib::exchange(data, at, [](const metalsim::lib::Lanes<T>& all, uint live) {
    for (uint quad = 0; quad < 32; quad += 4) {
      const uint present = live >> quad & 15;
      if (present == 0) continue;
      const T first = all[quad + uint(__builtin_ctz(present))];
      for (uint i = 0; i < 4; ++i) all.set(quad + i, first);
    }
  });
  return lanes[metalsim::lib::this_lane()];
}

/// A set of lanes, one bit each. all() and any() ask about the lanes that took part in the vote.
class simd_vote {
 public:
  using vote_t = ulong;
  MSL_RUNTIME_FN explicit constexpr simd_vote(vote_t votes = 0, vote_t voters = 0xffffffff)
      : votes_(votes), voters_(voters) {}
  MSL_RUNTIME_FN explicit constexpr operator vote_t() const { return votes_; }
  MSL_RUNTIME_FN constexpr bool all() const { return votes_ == voters_; }
  MSL_RUNTIME_FN constexpr bool any() const { return votes_ != 0; }

 private:
  vote_t votes_, voters_;
};
class quad_vote {
 public:
  using vote_t = uint;
  MSL_RUNTIME_FN explicit constexpr quad_vote(vote_t votes = 0, vote_t voters = 15)
      : votes_(votes), voters_(voters) {}
  MSL_RUNTIME_FN explicit constexpr operator vote_t() const { return votes_; }
  MSL_RUNTIME_FN constexpr bool all() const { return votes_ == voters_; }
  MSL_RUNTIME_FN constexpr bool any() const { return votes_ != 0; }

 private:
  vote_t votes_, voters_;
};

MSL_RUNTIME_FN simd_vote simd_active_threads_mask(MSL_AT) {
  const uint live = metalsim::lib::ballot(true, at);
  return simd_vote(live, live);
}
MSL_RUNTIME_FN simd_vote simd_ballot(bool expression, MSL_AT) {
  const uint live = metalsim::lib::ballot(true, at);
  return simd_vote(metalsim::lib::ballot(expression, at), live);
}
MSL_RUNTIME_FN bool simd_all(bool expression, MSL_AT) { return metalsim::lib::ballot(!expression, at) == 0; }
MSL_RUNTIME_FN bool simd_any(bool expression, MSL_AT) { return metalsim::lib::ballot(expression, at) != 0; }
MSL_RUNTIME_FN bool simd_is_first(MSL_AT) {
  return uint(__builtin_ctz(metalsim::lib::ballot(true, at))) == metalsim::lib::this_lane();
}

MSL_RUNTIME_FN uint msl_quad_ballot(bool expression, metalsim::SourceLocation at) {
  return metalsim::lib::ballot(expression, at) >> (metalsim::lib::this_lane() & ~3u) & 15;
}
MSL_RUNTIME_FN quad_vote quad_active_threads_mask(MSL_AT) {
  const uint live = msl_quad_ballot(true, at);
  return quad_vote(live, live);
}
MSL_RUNTIME_FN quad_vote quad_ballot(bool expression, MSL_AT) {
  const uint live = msl_quad_ballot(true, at);
  return quad_vote(msl_quad_ballot(expression, at), live);
}
MSL_RUNTIME_FN bool quad_all(bool expression, MSL_AT) { return msl_quad_ballot(!expression, at) == 0; }
MSL_RUNTIME_FN bool quad_any(bool expression, MSL_AT) { return msl_quad_ballot(expression, at) != 0; }
MSL_RUNTIME_FN bool quad_is_first(MSL_AT) {
  return uint(__builtin_ctz(msl_quad_ballot(true, at))) == (metalsim::lib::this_lane() & 3);
}

}  // namespace metal

#undef MSL_REDUCTION
#undef MSL_PREFIX
#undef MSL_SHUFFLE
