#pragma once
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "backends/cpu/isa/kernels.h"

/// What the tests of float kernels share.
namespace minfer::cpu::test {

inline const KernelTable& scalar_table() { return *built_tables().back(); }

/// The vector tables of this build that run here (tables_test.cpp names the others).
inline std::vector<const KernelTable*> vector_tables() {
  std::vector<const KernelTable*> tables;
  for (const KernelTable* table : built_tables()) {
    if (table != &scalar_table() && table->runs_here()) tables.push_back(table);
  }
  return tables;
}

/// Lengths around the vector width, and two widths of models.
inline std::vector<int64_t> lengths() {
  std::vector<int64_t> all;
  for (int64_t n = 1; n <= 70; ++n) all.push_back(n);
  for (int64_t n : {128, 576, 896, 1031}) all.push_back(n);
  return all;
}

/// Equal bits; any NaN equals any other (processors differ in a NaN's sign and payload).
inline bool same_bits(float a, float b) {
  return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b) || (std::isnan(a) && std::isnan(b));
}
template <std::integral T>
bool same_bits(T a, T b) {
  return a == b;
}

/// `n` elements at an address that is aligned for T and no more, between guards that must stay as they are.
template <class T>
class Guarded {
 public:
  explicit Guarded(int64_t n, int64_t misalign = 0) : n_(n), begin_(guard + misalign) {
    data_.assign(size_t(n + 2 * guard + misalign), fill());
  }
  Guarded(const std::vector<T>& values, int64_t misalign) : Guarded(int64_t(values.size()), misalign) {
    for (int64_t i = 0; i < n_; ++i) data()[i] = values[size_t(i)];
  }
  T* data() { return data_.data() + begin_; }
  int64_t size() const { return n_; }
  T& operator[](int64_t i) { return data()[i]; }

  bool guards_intact() const {
    for (int64_t i = 0; i < int64_t(data_.size()); ++i) {
      if ((i < begin_ || i >= begin_ + n_) && !same_bits(data_[size_t(i)], fill())) return false;
    }
    return true;
  }

 private:
  static constexpr int64_t guard = 16;
  static T fill() { return T(77); }
  int64_t n_, begin_;
  std::vector<T> data_;
};

/// The place of the first difference, -1 if there is none.
template <class T>
int64_t first_difference(Guarded<T>& a, Guarded<T>& b) {
  for (int64_t i = 0; i < a.size(); ++i) {
    if (!same_bits(a[i], b[i])) return i;
  }
  return -1;
}

inline std::vector<float> normal_values(int64_t n, uint32_t seed, float deviation = 1.0f) {
  std::mt19937 rng(seed);  // fixed: a failure must come back
  std::normal_distribution<float> normal(0.0f, deviation);
  std::vector<float> values;
  for (int64_t i = 0; i < n; ++i) values.push_back(normal(rng));
  return values;
}

/// Normal values among which zeros of both signs, infinities, NaN, subnormals and huge values stand.
inline std::vector<float> wild_values(int64_t n, uint32_t seed) {
  constexpr float inf = std::numeric_limits<float>::infinity();
  constexpr float wild[] = {0.0f,   -0.0f,   inf,      -inf,     std::numeric_limits<float>::quiet_NaN(),
                            1e-40f, -3e-39f, 3e38f,    -3e38f,   88.5f,
                            -88.5f, -103.9f, 0x1p-24f, 65519.0f, 65520.0f};
  std::vector<float> values = normal_values(n, seed, 20.0f);
  std::mt19937 rng(seed);
  for (float& v : values) {
    if (rng() % 4 == 0) v = wild[rng() % std::size(wild)];
  }
  return values;
}

}  // namespace minfer::cpu::test
