#include "backends/cpu/ops/kv_tile.h"

#include <cstring>

namespace minfer::cpu {
namespace {

constexpr int64_t block = 32;  ///< elements of a q8_0 block
constexpr size_t cache_line = 64;
/// Rows fetched before they are used: about the time memory takes to answer.
constexpr size_t rows_ahead = 16;

DType type_of(KvFormat format) {
  return format == KvFormat::f32 ? DType::f32 : format == KvFormat::f16 ? DType::f16 : DType::q8_0;
}

/// Where a window row is: its cell and how many rows follow it in neighbouring cells.
struct Spot {
  int64_t cell, together;
};

Spot spot(const VisibleRows& window, int64_t row) {
  int run = 0;
  while (row >= window.runs[size_t(run)].length) row -= window.runs[size_t(run++)].length;
  const VisibleRows::Run& at = window.runs[size_t(run)];
  return {at.cell + row, at.length - row};
}

}  // namespace

/// A head whose width is no multiple of 32 begins and ends inside q8_0 blocks: whole blocks are decoded and
/// the tile points at the head's first element.
int64_t KvReader::tile_stride() const {
  if (kv_.format != KvFormat::q8_0 || head_dim_ % block == 0) return head_dim_;
  return (head_dim_ + 2 * block - 1) / block * block;
}

void KvReader::load_row(const std::byte* row, int64_t head, float* to) const {
  const int64_t first = head * head_dim_;
  switch (kv_.format) {
    case KvFormat::f32:
      std::memcpy(to, reinterpret_cast<const float*>(row) + first, size_t(head_dim_) * sizeof(float));
      return;
    case KvFormat::f16:
      kernels_->load_f16(to, reinterpret_cast<const uint16_t*>(row) + first, head_dim_);
      return;
    case KvFormat::q8_0: {
      const int64_t begin = first / block * block;
      const int64_t end = (first + head_dim_ + block - 1) / block * block;
      kernels_->load_q8_0(to, row + row_bytes(DType::q8_0, begin), end - begin);
      return;
    }
  }
}

/// Whether the kernel for few queries reads this region itself.
bool KvReader::in_place() const { return kv_.format != KvFormat::q8_0 || head_dim_ % block == 0; }

/// Bytes from a row's start to a head that begins a block.
size_t KvReader::head_offset(int64_t head) const { return row_bytes(type_of(kv_.format), head * head_dim_); }

/// A head's part of a row is a few cache lines, a whole row apart, which processors do not foresee.
void KvReader::fetch(const std::byte* row, int64_t head) const {
  const size_t bytes = kv_.row_bytes * size_t(head_dim_) / size_t(kv_.kv_dim);
  for (size_t at = 0; at < bytes; at += cache_line) __builtin_prefetch(row + bytes * size_t(head) + at);
}

KvTile KvReader::load(const VisibleRows& window, int64_t begin, int64_t rows, int64_t head, bool wide,
                      float* memory) const {
  const Spot first = spot(window, begin);
  if (!wide && first.together >= rows && in_place()) {
    const size_t at = size_t(first.cell) * kv_.row_bytes + head_offset(head);
    const size_t ahead = first.together > rows ? rows_ahead * kv_.row_bytes : 0;
    return {type_of(kv_.format), kv_.k + at, kv_.v + at, kv_.row_bytes, rows, ahead};
  }
  const int64_t stride = tile_stride();
  float* k = memory;
  float* v = memory + attn_tile_rows * stride;
  for (int64_t j = 0; j < rows;) {
    const Spot here = spot(window, begin + j);
    for (int64_t i = 0; i < here.together && j < rows; ++i, ++j) {
      const size_t at = size_t(here.cell + i) * kv_.row_bytes;
      fetch(kv_.k + at + rows_ahead * kv_.row_bytes, head);
      fetch(kv_.v + at + rows_ahead * kv_.row_bytes, head);
      load_row(kv_.k + at, head, k + j * stride);
      load_row(kv_.v + at, head, v + j * stride);
    }
  }
  const int64_t lead = stride == head_dim_ ? 0 : head * head_dim_ % block;
  const auto bytes = [lead](const float* tile) { return reinterpret_cast<const std::byte*>(tile + lead); };
  return {DType::f32, bytes(k), bytes(v), size_t(stride) * sizeof(float), rows};
}

}  // namespace minfer::cpu
