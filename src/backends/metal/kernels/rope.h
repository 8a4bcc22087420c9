#pragma once
// The rotation of rotary embeddings, so that every kernel that rotates a pair gets the same bits.

/// Cosine and sine of position * frequency.
///
/// The angle is counted in turns and in integers: unsigned arithmetic drops whole turns without an error,
/// where a float product is off by a thousandth of a radian at position 32767. What is left is a signed part
/// of a turn in 2^-32 steps.
inline float2 rope_turn(int position, device const RopeFrequency& frequency) {
  const uint at = uint(position);
  const ulong turns = ulong(at) * ulong(frequency.high) + ulong(mulhi(at, frequency.low));
  const int part = as_type<int>(uint(turns & 0xFFFFFFFFul));
  const float angle = float(part) * 1.46291807926715968e-9f;  // 2 pi / 2^32
  return float2(precise::cos(angle), precise::sin(angle));
}

/// (a, b) turned. Each sum is one rounded product and one fused one, whatever the compiler is allowed.
inline float2 rope_rotate(float a, float b, float2 turn) {
  return float2(fma(a, turn.x, -(b * turn.y)), fma(a, turn.y, b * turn.x));
}

/// The two places of pair i in a head.
inline int2 rope_places(int pair, int head_dim, bool interleaved) {
  return interleaved ? int2(2 * pair, 2 * pair + 1) : int2(pair, pair + head_dim / 2);
}
