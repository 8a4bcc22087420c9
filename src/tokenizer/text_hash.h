#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace minfer {

/// Hash of a token's text. `seed` differs from run to run, so that no file can be made whose texts collide.
/// Mixing by the two halves of a 64 x 64 bit product, as in wyhash (Wang Yi, 2019); inline, because loading a
/// large vocabulary takes half a million hashes of a few bytes each.
inline uint64_t text_hash(std::string_view text, uint64_t seed) {
  const auto mix = [](uint64_t a, uint64_t b) {
    const auto product = static_cast<unsigned __int128>(a) * b;
    return uint64_t(product) ^ uint64_t(product >> 64);
  };
  constexpr uint64_t odd1 = 0xa0761d6478bd642fu, odd2 = 0xe7037ed1a0b428dbu;
  const char* at = text.data();
  size_t left = text.size();
  uint64_t hash = seed ^ left * odd2;
  for (; left > 8; left -= 8, at += 8) {
    uint64_t word;
    std::memcpy(&word, at, sizeof word);
    hash = mix(hash ^ word, odd1);
  }
  uint64_t word = 0;
  if (left >= 4) {  // two overlapping halves
    uint32_t first, last;
    std::memcpy(&first, at, sizeof first);
    std::memcpy(&last, at + left - 4, sizeof last);
    word = uint64_t(first) << 32 | last;
  } else if (left > 0) {  // first, middle and last byte
    word = uint64_t(uint8_t(at[0])) << 16 | uint64_t(uint8_t(at[left / 2])) << 8 | uint8_t(at[left - 1]);
  }
  return mix(mix(hash ^ word, odd1) ^ seed, odd2);
}

}  // namespace minfer
