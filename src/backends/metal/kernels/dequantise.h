// Weights as f32, sixteen values at a time: what the GEMM stages and what a gather writes.
//
// Rows are read in steps of 32 values, and a step in two parts. A part is two runs of eight values that lie
// in the same bytes, so that every byte of quants is read once: in blocks of 32 the second run is 16 values
// behind the first, in Q4_K and Q5_K 32, in Q6_K 64. Part 1 is the eight values behind each run of part 0.
//
// Bits: every product below (scale * quant, d * scale * quant) has at most 24 significant bits and is
// therefore exact in f32, so that a value is rounded at most once, by the addition of its minimum.
// Contraction and reassociation cannot change it, and the values are those of the decoders on the processor.
#pragma once
#include <metal_stdlib>
#include "blocks.h"
using namespace metal;

/// Quads 0 and 1 are a part's first run, 2 and 3 its second.
struct Part {
  float4 quads[4];
};

/// Where part 0 of a step lies in its block: from `first` on, and from `first` + `gap` on.
struct StepColumns {
  short first, gap;
};
template <typename Block>
inline StepColumns step_columns(device const Block*, short step) {
  return {short(step * 32), 16};
}
inline StepColumns step_columns(device const BlockQ4_K*, short step) {
  return {short(step / 2 * 64 + step % 2 * 16), 32};
}
inline StepColumns step_columns(device const BlockQ5_K*, short step) {
  return {short(step / 2 * 64 + step % 2 * 16), 32};
}
inline StepColumns step_columns(device const BlockQ6_K*, short step) {
  return {short(step / 4 * 128 + step % 4 * 16), 64};
}

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
inline ushort4 first4(ushort4 bytes) {
  return ushort4(bytes.x & 0xFF, bytes.x >> 8, bytes.y & 0xFF, bytes.y >> 8);
}
inline ushort4 last4(ushort4 bytes) {
  return ushort4(bytes.z & 0xFF, bytes.z >> 8, bytes.w & 0xFF, bytes.w >> 8);
}

/// Sixteen unsigned quants in the order of a part.
struct Quants {
  ushort4 quads[4];
};

constant constexpr ushort low4 = 15;

/// Four-bit quants of sixteen bytes: low nibbles are the first run, high ones the second.
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
  const ushort4 first = ushort4(bits[part]), second = ushort4(bits[2 + part]);
  q.quads[0] |= ((first >> low) & ushort(1)) << 4;
  q.quads[1] |= ((first >> high) & ushort(1)) << 4;
  q.quads[2] |= ((second >> low) & ushort(1)) << 4;
  q.quads[3] |= ((second >> high) & ushort(1)) << 4;
}
/// Adds the upper bits of a K type: of sixteen bytes, those under `mask` from bit `shift` on for the first
/// run, and from `second_shift` on for the second.
inline void add_upper_bits(thread Quants& q, device const uchar* bytes, short part, short shift,
                           short second_shift, ushort mask) {
  const ushort4 both = load8(bytes + part * 8);
  const ushort4 first = first4(both), last = last4(both);
  q.quads[0] |= ((first >> shift) & mask) << 4;
  q.quads[1] |= ((last >> shift) & mask) << 4;
  q.quads[2] |= ((first >> second_shift) & mask) << 4;
  q.quads[3] |= ((last >> second_shift) & mask) << 4;
}

/// (q - offset) * d, each run with its own d: the difference first, so that a zero keeps the sign of d.
inline Part symmetric(Quants q, short offset, float2 d) {
  Part result;
  for (short i = 0; i < 4; ++i) result.quads[i] = float4(short4(q.quads[i]) - offset) * d[i / 2];
  return result;
}
/// q * d + m, each run with its own d and m.
inline Part affine(Quants q, float2 d, float2 m) {
  Part result;
  for (short i = 0; i < 4; ++i) result.quads[i] = float4(q.quads[i]) * d[i / 2] + m[i / 2];
  return result;
}

inline Part dequantise(device const BlockQ4_0* block, short, short part) {
  return symmetric(nibbles(block->qs, part), 8, float2(float(block->d)));
}

inline Part dequantise(device const BlockQ4_1* block, short, short part) {
  return affine(nibbles(block->qs, part), float2(float(block->d)), float2(float(block->m)));
}

inline Part dequantise(device const BlockQ5_0* block, short, short part) {
  Quants q = nibbles(block->qs, part);
  add_fifth_bits(q, block->qh, part);
  return symmetric(q, 16, float2(float(block->d)));
}

inline Part dequantise(device const BlockQ5_1* block, short, short part) {
  Quants q = nibbles(block->qs, part);
  add_fifth_bits(q, block->qh, part);
  return affine(q, float2(float(block->d)), float2(float(block->m)));
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

/// Scales and minima, in units of d and dmin, of two sub-blocks of Q4_K and Q5_K.
struct ScalePair {
  float2 scales, minima;
};
/// Of sub-blocks j and j + 1, j even. They have six bits each; those of the last four sub-blocks lie in two
/// pieces, the upper two bits beside the first four's.
inline ScalePair scale_pair(device const uchar* packed, short j) {
  device const ushort* pairs = (device const ushort*)packed + j / 2;
  ushort scales, minima;
  if (j < 4) {
    scales = pairs[0] & 0x3F3F;
    minima = pairs[2] & 0x3F3F;
  } else {
    scales = (pairs[2] & 0x0F0F) | (pairs[-2] & 0xC0C0) >> 2;
    minima = (pairs[2] >> 4 & 0x0F0F) | (pairs[0] & 0xC0C0) >> 2;
  }
  ScalePair result;
  result.scales = float2(scales & 0xFF, scales >> 8);
  result.minima = float2(minima & 0xFF, minima >> 8);
  return result;
}

/// Step j: bytes 16 j to 16 j + 15, of sub-blocks j / 2 * 2 (low nibbles) and the next (high).
inline Part dequantise(device const BlockQ4_K* block, short j, short part) {
  const ScalePair k = scale_pair(block->scales, j / 2 * 2);
  return affine(nibbles(block->qs + j * 16, part), float(block->d) * k.scales,
                -(float(block->dmin) * k.minima));
}

inline Part dequantise(device const BlockQ5_K* block, short j, short part) {
  const short sub_block = j / 2 * 2;
  const ScalePair k = scale_pair(block->scales, sub_block);
  Quants q = nibbles(block->qs + j * 16, part);
  add_upper_bits(q, block->qh + j % 2 * 16, part, sub_block, sub_block + 1, 1);
  return affine(q, float(block->d) * k.scales, -(float(block->dmin) * k.minima));
}

/// Step j: bytes 16 j to 16 j + 15 of ql. Four steps are a half of 128 values, whose 64 low nibbles stand
/// before its 64 high ones; each byte of qh has two bits for each quarter of a half.
inline Part dequantise(device const BlockQ6_K* block, short j, short part) {
  const short quarter = j % 4 / 2, scale = j / 4 * 8 + j % 4;
  Quants q = nibbles(block->ql + j * 16, part);
  add_upper_bits(q, block->qh + j / 4 * 32 + j % 2 * 16, part, quarter * 2, quarter * 2 + 4, 3);
  return symmetric(q, 32, float(block->d) * float2(float(block->sc[scale]), float(block->sc[scale + 4])));
}
