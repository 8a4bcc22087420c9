// 8x8 matrices of a simdgroup.
//
// A GPU spreads the 64 elements over the 32 lanes. Here lane 0's object holds them all and does the work, and
// the other lanes' objects are inert; so a matrix operation needs no meeting of the lanes, except where a
// lane may have changed its own two elements through thread_elements(). The checked build compares the ways of
// the lanes at every operation.
#pragma once

#include "simdgroup.h"

/// A matrix function as all lanes run it: it must cost next to nothing in the 31 that have nothing to do, so
/// the fast build inlines it; the work is in an MSL_RUNTIME_FN that lane 0 calls.
#if defined(METALSIM_CHECKED)
#define MSL_MATRIX_FN MSL_RUNTIME_FN
#else
#define MSL_MATRIX_FN MSL_FN
#endif

namespace metalsim::lib {

/// Whether this lane has asked for thread_elements(): then its matrix operations meet, before and after.
MSL_RUNTIME_PART bool elements_shared() { return current_thread->elements_shared; }

template <class T>
MSL_RUNTIME_FN void fill_diagonal(T* elements, T diagonal) {
  for (int i = 0; i < 64; ++i) elements[i] = i / 8 == i % 8 ? diagonal : T(0);
}
template <class T>
MSL_RUNTIME_FN void copy_elements(T* to, const T* from) {
  __builtin_memcpy(to, from, 64 * sizeof(T));
}

}  // namespace metalsim::lib

namespace metal {

template <class T, int Columns, int Rows>
struct simdgroup_matrix {
  static_assert(Columns == 8 && Rows == 8, "simdgroup matrices are 8x8");
  static_assert(is_floating_point_v<T>, "simdgroup matrices are of half, bfloat or float");

  alignas(64) T elements[64];  // row by row, in lane 0

  MSL_RUNTIME_FN simdgroup_matrix() {}
  /// `diagonal` on the diagonal, zero elsewhere.
  MSL_MATRIX_FN explicit simdgroup_matrix(T diagonal) {
    if (metalsim::lib::this_lane() == 0) metalsim::lib::fill_diagonal(elements, diagonal);
  }
  MSL_MATRIX_FN simdgroup_matrix(const simdgroup_matrix& other) { *this = other; }
  MSL_MATRIX_FN simdgroup_matrix& operator=(const simdgroup_matrix& other) {
    const bool meet = metalsim::lib::elements_shared();
    if (meet) metalsim::simd_meet({"", 0, 0});
    if (metalsim::lib::this_lane() == 0) metalsim::lib::copy_elements(elements, other.elements);
    if (meet) metalsim::simd_meet({"", 0, 0});
    return *this;
  }

  /// This lane's two elements: side by side in row r, from column c, where for lane l
  /// r = l/2 % 4 + l/16 * 4 and c = (l % 2 + l/8 % 2 * 2) * 2.
  MSL_RUNTIME_FN vec<T, 2>& thread_elements(MSL_AT) {
    metalsim::current_thread->elements_shared = true;
    const auto pointers = metalsim::lib::exchange(elements, at);
    const uint lane = metalsim::lib::this_lane();
    const uint row = lane / 2 % 4 + lane / 16 * 4, column = (lane % 2 + lane / 8 % 2 * 2) * 2;
    return *reinterpret_cast<vec<T, 2>*>(pointers[0] + row * 8 + column);
  }
};

using simdgroup_float8x8 = simdgroup_matrix<float, 8, 8>;
using simdgroup_half8x8 = simdgroup_matrix<half, 8, 8>;
using simdgroup_bfloat8x8 = simdgroup_matrix<bfloat, 8, 8>;

}  // namespace metal

namespace metalsim::lib {

/// Brackets one matrix operation: true in the lane that does the work. Elements that other lanes hold
/// pointers to are complete before it and seen by them after it.
class MatrixOperation {
 public:
  MSL_RUNTIME_PART explicit MatrixOperation(SourceLocation at) : at_(at), shared_(elements_shared()) {
    if (shared_) simd_meet(at, SimdUse::matrix);
#if defined(METALSIM_CHECKED)
    else
      simd_pass(at, SimdUse::matrix);
#endif
  }
  MSL_RUNTIME_PART ~MatrixOperation() {
    if (shared_) simd_meet(at_, SimdUse::matrix);
  }
  MatrixOperation(const MatrixOperation&) = delete;
  MSL_RUNTIME_PART bool leads() const { return this_lane() == 0; }

 private:
  SourceLocation at_;
  bool shared_;
};

/// Tells the checker of the eight elements of a row in memory.
template <class T>
MSL_RUNTIME_PART void note_row([[maybe_unused]] const T* row, [[maybe_unused]] bool write,
                             [[maybe_unused]] SourceLocation at) {
#if defined(METALSIM_CHECKED)
  note_access(row, 8 * sizeof(T), write ? AccessKind::collective_write : AccessKind::collective_read,
              alignof(T), at);
#endif
}

typedef float Row8 __attribute__((ext_vector_type(8)));

template <class T>
MSL_RUNTIME_PART Row8 row_of(const T* elements) {
  if constexpr (std::is_same_v<T, ::half>) {
    typedef ::half Half8 __attribute__((ext_vector_type(8)));
    Half8 row;
    __builtin_memcpy(&row, elements, sizeof(row));
    return __builtin_convertvector(row, Row8);
  } else {
    Row8 row;
    for (int i = 0; i < 8; ++i) row[i] = float(elements[i]);
    return row;
  }
}

/// d = a * b + c, products and sums in float in order of k, one rounding to D at the end.
template <class D, class A, class B, class C>
MSL_RUNTIME_FN void multiply(D* d, const A* a, const B* b, const C* c) {
  ++current_group->counts.matrix_multiplies;
  Row8 rows_of_a[8], rows_of_b[8];
  for (int k = 0; k < 8; ++k) {
    rows_of_a[k] = row_of(a + k * 8);
    rows_of_b[k] = row_of(b + k * 8);
  }
  for (int r = 0; r < 8; ++r) {
    Row8 sum = c ? row_of(c + r * 8) : Row8(0);
    for (int k = 0; k < 8; ++k) sum += rows_of_b[k] * rows_of_a[r][k];
    for (int i = 0; i < 8; ++i) d[r * 8 + i] = D(sum[i]);
  }
}

/// Rows of eight elements, `elements_per_row` apart, from `memory` on.
template <class T>
MSL_RUNTIME_FN void load(T* elements, const T* memory, ulong elements_per_row, bool transpose,
                         SourceLocation at) {
  ++current_group->counts.matrix_loads;
  for (int r = 0; r < 8; ++r) {
    const T* row = memory + ulong(r) * elements_per_row;
    note_row(row, false, at);
    if (transpose)
      for (int c = 0; c < 8; ++c) elements[c * 8 + r] = row[c];
    else
      __builtin_memcpy(elements + r * 8, row, 8 * sizeof(T));
  }
}
template <class T>
MSL_RUNTIME_FN void store(const T* elements, T* memory, ulong elements_per_row, bool transpose,
                          SourceLocation at) {
  ++current_group->counts.matrix_stores;
  for (int r = 0; r < 8; ++r) {
    T* row = memory + ulong(r) * elements_per_row;
    note_row(row, true, at);
    if (transpose)
      for (int c = 0; c < 8; ++c) row[c] = elements[c * 8 + r];
    else
      __builtin_memcpy(row, elements + r * 8, 8 * sizeof(T));
  }
}
template <class T>
MSL_RUNTIME_FN void fill(T* elements, T value) {
  for (int i = 0; i < 64; ++i) elements[i] = value;
}

}  // namespace metalsim::lib

namespace metal {

template <class T, int C, int R>
MSL_MATRIX_FN simdgroup_matrix<T, C, R> make_filled_simdgroup_matrix(T value, MSL_AT) {
  simdgroup_matrix<T, C, R> m;
  if (metalsim::lib::MatrixOperation(at).leads()) metalsim::lib::fill(m.elements, value);
  return m;
}

/// Rows of eight elements, `elements_per_row` apart, from column origin.x of row origin.y; transposed, the
/// rows in memory are the columns of the matrix.
template <class T>
MSL_MATRIX_FN void simdgroup_load(simdgroup_matrix<T, 8, 8>& m, const T* source, ulong elements_per_row = 8,
                                  ulong2 origin = ulong2(0), bool transpose = false, MSL_AT) {
  const metalsim::lib::MatrixOperation operation(at);
  if (!operation.leads()) return;
  metalsim::lib::load(m.elements, source + origin.y * elements_per_row + origin.x, elements_per_row,
                      transpose, at);
}
template <class T>
MSL_MATRIX_FN void simdgroup_store(const simdgroup_matrix<T, 8, 8>& m, T* destination,
                                   ulong elements_per_row = 8, ulong2 origin = ulong2(0),
                                   bool transpose = false, MSL_AT) {
  const metalsim::lib::MatrixOperation operation(at);
  if (!operation.leads()) return;
  metalsim::lib::store(m.elements, destination + origin.y * elements_per_row + origin.x, elements_per_row,
                       transpose, at);
}

template <class D, class A, class B>
MSL_MATRIX_FN void simdgroup_multiply(simdgroup_matrix<D, 8, 8>& d, const simdgroup_matrix<A, 8, 8>& a,
                                      const simdgroup_matrix<B, 8, 8>& b, MSL_AT) {
  const metalsim::lib::MatrixOperation operation(at);
  if (operation.leads())
    metalsim::lib::multiply(d.elements, a.elements, b.elements, static_cast<const float*>(nullptr));
}
template <class D, class A, class B, class C>
MSL_MATRIX_FN void simdgroup_multiply_accumulate(simdgroup_matrix<D, 8, 8>& d,
                                                 const simdgroup_matrix<A, 8, 8>& a,
                                                 const simdgroup_matrix<B, 8, 8>& b,
                                                 const simdgroup_matrix<C, 8, 8>& c, MSL_AT) {
  const metalsim::lib::MatrixOperation operation(at);
  if (operation.leads()) metalsim::lib::multiply(d.elements, a.elements, b.elements, c.elements);
}
template <class T>
MSL_MATRIX_FN simdgroup_matrix<T, 8, 8> operator*(const simdgroup_matrix<T, 8, 8>& a,
                                                  const simdgroup_matrix<T, 8, 8>& b) {
  simdgroup_matrix<T, 8, 8> d;
  simdgroup_multiply(d, a, b);
  return d;
}

}  // namespace metal
