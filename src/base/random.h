#pragma once
#include <cstdint>

namespace minfer {

/// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014): one 64-bit
/// state, every seed good, the same numbers on every machine. The standard library's distributions differ
/// between vendors.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  /// In [0, 1), 53 random bits.
  double uniform() { return double(next() >> 11) * 0x1p-53; }

 private:
  uint64_t state_;
};

}  // namespace minfer
