// Weights as f32, sixteen values at a time: what the GEMM stages and what a gather writes.
//
// Rows are read in groups of 32 values. Part 0 or 1 of a group is its values 8 part .. 8 part + 7 and
// 16 + 8 part .. 16 + 8 part + 7: the types that keep value i and value i + 16 in one byte are then read once.
//
// Bits: every product below (scale * quant, d * scale * quant) has at most 24 significant bits and is therefore exact in
// f32, so that a value is rounded at most once, by the addition of its minimum. Contraction and reassociation cannot
// change it, and the values are those of the decoders on the processor.
#pragma once
#include "blocks.h"

/// One part of a group: quads 0 and 1 are its first eight values, 2 and 3 the others.
struct Part {
  float4 quads[4];
};

/// 32 values of F32 (float), F16 (half) or BF16 (ushort, the upper half of a float).
template <typename T>
struct PlainGroup {
  T values[32];
};

inline float4 widen4(device const float* values) { return float4(*(device const packed_float4*)values); }
inline float4 widen4(device const half* values) { return float4(half4(*(device const packed_half4*)values)); }
inline float4 widen4(device const ushort* values) {
  return as_type<float4>(uint4(ushort4(*(device const packed_ushort4*)values)) << 16);
}
inline float widen(float value) { return value; }
inline float widen(half value) { return float(value); }
inline float widen(ushort value) { return as_type<float>(uint(value) << 16); }

template <typename T>
inline Part dequantise(device const PlainGroup<T>* group, short, short part) {
  device const T* values = group->values + part * 8;
  Part result;
  result.quads[0] = widen4(values);
  result.quads[1] = widen4(values + 4);
  result.quads[2] = widen4(values + 16);
  result.quads[3] = widen4(values + 20);
  return result;
}

/// The same where a row ends after `count` values of the group: zeros from there on.
template <typename T>
inline Part dequantise_end(device const PlainGroup<T>* group, short part, int count) {
  Part result;
  for (short i = 0; i < 16; ++i) {
    const short at = i / 8 * 16 + part * 8 + i % 8;
    result.quads[i / 4][i % 4] = at < count ? widen(group->values[at]) : 0.0f;
  }
  return result;
}
/// Rows of quantised types are whole groups.
template <typename Block>
inline Part dequantise_end(device const Block*, short, int) {
  return Part();
}

/// Eight bytes at an even address.
inline ushort4 load8(device const uchar* bytes) { return ushort4(*(device const packed_ushort4*)bytes); }
/// The first and the last four of eight bytes.
inline ushort4 first4(ushort4 bytes) { return ushort4(bytes.x & 0xFF, bytes.x >> 8, bytes.y & 0xFF, bytes.y >> 8); }
inline ushort4 last4(ushort4 bytes) { return ushort4(bytes.z & 0xFF, bytes.z >> 8, bytes.w & 0xFF, bytes.w >> 8); }

/// Sixteen unsigned quants in the order of a part.
struct Quants {
  ushort4 quads[4];
};

constant constexpr ushort low4 = 15;

/// Four-bit quants of a block of 32: byte i has quants i and i + 16.
inline Quants nibbles(device const uchar* bytes, short part) {
  const ushort4 both = load8(bytes + part * 8);
  const ushort4 first = first4(both), last = last4(both);
  Quants q;
  q.quads[0] = first & low4;
  q.quads[1] = last & low4;
  q.quads[2] = first >> 4;
  q.quads[3] = last >> 4;
  return q;
}
/// Adds the fifth bits of a block of 32: bit e of four bytes is quant e's.
inline void add_fifth_bits(thread Quants& q, device const uchar* bits, short part) {
  const ushort4 low = ushort4(0, 1, 2, 3), high = ushort4(4, 5, 6, 7);
  const ushort4 first = bits[part], second = bits[2 + part];
  q.quads[0] |= ((first >> low) & ushort(1)) << 4;
  q.quads[1] |= ((first >> high) & ushort(1)) << 4;
  q.quads[2] |= ((second >> low) & ushort(1)) << 4;
  q.quads[3] |= ((second >> high) & ushort(1)) << 4;
}

/// (q - offset) * d: the difference first, so that a zero keeps the sign of d.
inline Part symmetric(Quants q, short offset, float d) {
  Part result;
  for (short i = 0; i < 4; ++i) result.quads[i] = float4(short4(q.quads[i]) - offset) * d;
  return result;
}
/// q * d + m.
inline Part affine(Quants q, float d, float m) {
  Part result;
  for (short i = 0; i < 4; ++i) result.quads[i] = float4(q.quads[i]) * d + m;
  return result;
}

inline Part dequantise(device const BlockQ4_0* block, short, short part) {
  return symmetric(nibbles(block->qs, part), 8, float(block->d));
}

inline Part dequantise(device const BlockQ4_1* block, short, short part) {
  return affine(nibbles(block->qs, part), float(block->d), float(block->m));
}

inline Part dequantise(device const BlockQ5_0* block, short, short part) {
  Quants q = nibbles(block->qs, part);
  add_fifth_bits(q, block->qh, part);
  return symmetric(q, 16, float(block->d));
}

inline Part dequantise(device const BlockQ5_1* block, short, short part) {
  Quants q = nibbles(block->qs, part);
  add_fifth_bits(q, block->qh, part);
  return affine(q, float(block->d), float(block->m));
}

inline Part dequantise(device const BlockQ8_0* block, short, short part) {
  const float d = float(block->d);
  Part result;
  for (short i = 0; i < 2; ++i) {
    const ushort4 eight = load8((device const uchar*)block->qs + i * 16 + part * 8);
    result.quads[2 * i] = float4(as_type<char4>(ushort2(eight.xy))) * d;
    result.quads[2 * i + 1] = float4(as_type<char4>(ushort2(eight.zw))) * d;
  }
  return result;
}

/// Scale and minimum of sub-block j of Q4_K and Q5_K: six bits each, those of the last four sub-blocks in two pieces.
inline float2 k_scale(device const uchar* packed, short j) {
  if (j < 4) return float2(packed[j] & 63, packed[j + 4] & 63);
  return float2((packed[j + 4] & 15) | (packed[j - 4] >> 6) << 4, (packed[j + 4] >> 4) | (packed[j] >> 6) << 4);
}

/// Four-bit quants of sub-block j of Q4_K and Q5_K: two sub-blocks share 32 bytes, low nibbles first.
inline Quants k_nibbles(device const uchar* bytes, short j, short part) {
  const short shift = j % 2 * 4;
  const ushort4 first = load8(bytes + j / 2 * 32 + part * 8), second = load8(bytes + j / 2 * 32 + part * 8 + 16);
  Quants q;
  q.quads[0] = (first4(first) >> shift) & low4;
  q.quads[1] = (last4(first) >> shift) & low4;
  q.quads[2] = (first4(second) >> shift) & low4;
  q.quads[3] = (last4(second) >> shift) & low4;
  return q;
}
/// Puts two bits of each of 32 bytes, from bit `shift` on, above the four that are there; Q5_K has one such bit.
inline void add_high_bits(thread Quants& q, device const uchar* bytes, short shift, ushort mask, short part) {
  const ushort4 first = load8(bytes + part * 8), second = load8(bytes + part * 8 + 16);
  q.quads[0] |= ((first4(first) >> shift) & mask) << 4;
  q.quads[1] |= ((last4(first) >> shift) & mask) << 4;
  q.quads[2] |= ((first4(second) >> shift) & mask) << 4;
  q.quads[3] |= ((last4(second) >> shift) & mask) << 4;
}

inline Part dequantise(device const BlockQ4_K* block, short j, short part) {
  const float2 k = k_scale(block->scales, j);
  return affine(k_nibbles(block->qs, j, part), float(block->d) * k.x, -(float(block->dmin) * k.y));
}

inline Part dequantise(device const BlockQ5_K* block, short j, short part) {
  const float2 k = k_scale(block->scales, j);
  Quants q = k_nibbles(block->qs, j, part);
  add_high_bits(q, block->qh, j, 1, part);
  return affine(q, float(block->d) * k.x, -(float(block->dmin) * k.y));
}

/// Group j of 32 is a quarter of a half: nibbles of quarters 0 and 1 are the low ones of the half's 64 bytes, of 2 and 3
/// the high ones; each run of 16 has its own scale.
inline Part dequantise(device const BlockQ6_K* block, short j, short part) {
  const short half_index = j / 4, quarter = j % 4;
  Quants q = k_nibbles(block->ql + half_index * 64 + quarter % 2 * 32, quarter / 2, part);
  add_high_bits(q, block->qh + half_index * 32, quarter * 2, 3, part);
  const float d = float(block->d);
  const float first = d * float(block->sc[j * 2]), second = d * float(block->sc[j * 2 + 1]);
  Part result;
  for (short i = 0; i < 4; ++i) result.quads[i] = float4(short4(q.quads[i]) - short(32)) * (i < 2 ? first : second);
  return result;
}
