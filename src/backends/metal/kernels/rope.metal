// Rotary position embedding of rows of heads, in place or not.
#include <metal_stdlib>
using namespace metal;
#include "rope_args.h"
#include "rope.h"

constant constexpr int heads_a_thread = 4;  // they turn by one angle, and the angle is what costs

// Grid: pairs, tokens, heads / 4.
kernel void rope_f32(constant RopeArgs& args [[buffer(0)]],
                     device const float* x [[buffer(1)]],
                     device const int* positions [[buffer(2)]],
                     device const RopeFrequency* frequencies [[buffer(3)]],
                     device float* y [[buffer(4)]],
                     uint3 at [[thread_position_in_grid]]) {
  const int pair = at.x, token = at.y, first_head = int(at.z) * heads_a_thread;
  if (pair >= args.head_dim / 2 || token >= args.tokens) return;
  const float2 turn = rope_turn(positions[token], frequencies[pair]);
  const int2 places = rope_places(pair, args.head_dim, args.interleaved != 0);
  const int end = min(first_head + heads_a_thread, args.n_heads);
  for (int head = first_head; head < end; head++) {
    const ulong start = (ulong(token) * args.n_heads + head) * args.head_dim;
    const float2 turned = rope_rotate(x[start + places.x], x[start + places.y], turn);
    y[start + places.x] = turned.x;
    y[start + places.y] = turned.y;
  }
}
