// Four-bit values of two bytes at a time, left where they lie.
//
// A nibble is masked but not shifted, so it counts 1, 16, 256 or 4096 times itself; the activation that it
// meets is divided by the same power of two, once for all rows. Their product is the same, and no weight costs
// a shift.
#pragma once
#include <metal_stdlib>
using namespace metal;

// Of the low and the high nibbles of four bytes.
constant float4 low_places = float4(1.0f, 256.0f, 1.0f, 256.0f);
constant float4 high_places = float4(16.0f, 4096.0f, 16.0f, 4096.0f);
constant float4 low_inverse = float4(1.0f, 1.0f / 256, 1.0f, 1.0f / 256);
constant float4 high_inverse = float4(1.0f / 16, 1.0f / 4096, 1.0f / 16, 1.0f / 4096);

inline float4 low_nibbles(ushort2 q) {
  return float4(q.x & 0x000F, q.x & 0x0F00, q.y & 0x000F, q.y & 0x0F00);
}
inline float4 high_nibbles(ushort2 q) {
  return float4(q.x & 0x00F0, q.x & 0xF000, q.y & 0x00F0, q.y & 0xF000);
}

// The same with a fifth bit where a flag is not zero.
inline float4 low_nibbles(ushort2 q, int4 fifth) {
  return float4((q.x & 0x000F) | (fifth.x ? 0x0010 : 0), (q.x & 0x0F00) | (fifth.y ? 0x1000 : 0),
                (q.y & 0x000F) | (fifth.z ? 0x0010 : 0), (q.y & 0x0F00) | (fifth.w ? 0x1000 : 0));
}
inline float4 high_nibbles(ushort2 q, int4 fifth) {
  return float4((q.x & 0x00F0) | (fifth.x ? 0x00100 : 0), (q.x & 0xF000) | (fifth.y ? 0x10000 : 0),
                (q.y & 0x00F0) | (fifth.z ? 0x00100 : 0), (q.y & 0xF000) | (fifth.w ? 0x10000 : 0));
}

// Eight bytes that need two-byte alignment only.
inline ushort4 load_bytes8(device const uchar* at) { return ushort4(*(device const packed_ushort4*)at); }
