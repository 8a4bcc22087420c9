// Every swizzle of every vector size, read and assigned; packed vectors; geometry and matrices.
#include <metal_stdlib>
using namespace metal;

// A swizzle reads its components in order; assigned, it changes exactly those (where none is named twice).
#define CHECK2(v, a, b)                         \
  {                                             \
    ok &= all(v.a##b == T2(v.a, v.b));          \
    CHECK_PUT2_##a##b(v, a, b) count++;         \
  }
#define CHECK3(v, a, b, c)                               \
  {                                                      \
    ok &= all(v.a##b##c == T3(v.a, v.b, v.c));           \
    count++;                                             \
  }
#define CHECK4(v, a, b, c, e)                                    \
  {                                                              \
    ok &= all(v.a##b##c##e == T4(v.a, v.b, v.c, v.e));           \
    count++;                                                     \
  }
#define CHECK_PUT2(v, a, b) { T4 w = v; w.a##b = T2(77, 88); ok &= w.a == 77 && w.b == 88 && unchanged(v, w) == 2; }
#define CHECK_PUT2_xx(...)
#define CHECK_PUT2_yy(...)
#define CHECK_PUT2_zz(...)
#define CHECK_PUT2_ww(...)
#define CHECK_PUT2_xy CHECK_PUT2
#define CHECK_PUT2_xz CHECK_PUT2
#define CHECK_PUT2_xw CHECK_PUT2
#define CHECK_PUT2_yx CHECK_PUT2
#define CHECK_PUT2_yz CHECK_PUT2
#define CHECK_PUT2_yw CHECK_PUT2
#define CHECK_PUT2_zx CHECK_PUT2
#define CHECK_PUT2_zy CHECK_PUT2
#define CHECK_PUT2_zw CHECK_PUT2
#define CHECK_PUT2_wx CHECK_PUT2
#define CHECK_PUT2_wy CHECK_PUT2
#define CHECK_PUT2_wz CHECK_PUT2
#define CHECK_PUT2_rr(...)
#define CHECK_PUT2_gg(...)
#define CHECK_PUT2_bb(...)
#define CHECK_PUT2_aa(...)
#define CHECK_PUT2_rg CHECK_PUT2
#define CHECK_PUT2_rb CHECK_PUT2
#define CHECK_PUT2_ra CHECK_PUT2
#define CHECK_PUT2_gr CHECK_PUT2
#define CHECK_PUT2_gb CHECK_PUT2
#define CHECK_PUT2_ga CHECK_PUT2
#define CHECK_PUT2_br CHECK_PUT2
#define CHECK_PUT2_bg CHECK_PUT2
#define CHECK_PUT2_ba CHECK_PUT2
#define CHECK_PUT2_ar CHECK_PUT2
#define CHECK_PUT2_ag CHECK_PUT2
#define CHECK_PUT2_ab CHECK_PUT2

#define LAST2(v, p, q, r, s, a) CHECK2(v, a, p) CHECK2(v, a, q) CHECK2(v, a, r) CHECK2(v, a, s)
#define LAST3(v, p, q, r, s, a, b) CHECK3(v, a, b, p) CHECK3(v, a, b, q) CHECK3(v, a, b, r) CHECK3(v, a, b, s)
#define LAST4(v, p, q, r, s, a, b, c) \
  CHECK4(v, a, b, c, p) CHECK4(v, a, b, c, q) CHECK4(v, a, b, c, r) CHECK4(v, a, b, c, s)
#define THIRD(v, p, q, r, s, a, b)                                                         \
  LAST3(v, p, q, r, s, a, b)                                                               \
  LAST4(v, p, q, r, s, a, b, p) LAST4(v, p, q, r, s, a, b, q) LAST4(v, p, q, r, s, a, b, r) \
  LAST4(v, p, q, r, s, a, b, s)
#define SECOND(v, p, q, r, s, a)                                                                   \
  LAST2(v, p, q, r, s, a)                                                                          \
  THIRD(v, p, q, r, s, a, p) THIRD(v, p, q, r, s, a, q) THIRD(v, p, q, r, s, a, r) THIRD(v, p, q, r, s, a, s)

// How many components differ.
template <typename V>
inline int unchanged(V a, V b) {
  return int(a.x != b.x) + int(a.y != b.y) + int(a.z != b.z) + int(a.w != b.w);
}

// out[0]: whether all swizzles with one first component are right; out[1]: how many were looked at. Eight kernels and
// no branches: compilers take fifteen times as long for one kernel of all 672 that stops at the first wrong one.
#define SWIZZLES(name, p, q, r, s, first)                  \
  kernel void name(device int* out [[buffer(0)]]) {        \
    using T2 = float2;                                     \
    using T3 = float3;                                     \
    using T4 = float4;                                     \
    const float4 v(10, 20, 30, 40);                        \
    bool ok = true;                                        \
    int count = 0;                                         \
    SECOND(v, p, q, r, s, first)                           \
    out[0] = ok;                                           \
    out[1] = count;                                        \
  }
SWIZZLES(swizzles_x, x, y, z, w, x)
SWIZZLES(swizzles_y, x, y, z, w, y)
SWIZZLES(swizzles_z, x, y, z, w, z)
SWIZZLES(swizzles_w, x, y, z, w, w)
SWIZZLES(swizzles_r, r, g, b, a, r)
SWIZZLES(swizzles_g, r, g, b, a, g)
SWIZZLES(swizzles_b, r, g, b, a, b)
SWIZZLES(swizzles_a, r, g, b, a, a)

kernel void assigned_swizzles(device float* out [[buffer(0)]]) {
  float4 v(1, 2, 3, 4);
  v.zyx = float3(10, 20, 30);
  v.wx += float2(1, 2);
  v.bgra = v;
  float3 u(1, 2, 3);
  u.zx = u.xy;
  u.yzx *= 2;
  float2 t(5, 6);
  t.yx = t;
  t.xy = 1.0f - t.yx;
  for (int i = 0; i < 4; i++) out[i] = v[i];
  for (int i = 0; i < 3; i++) out[4 + i] = u[i];
  out[7] = t.x;
  out[8] = t.y;
}

kernel void constructors_and_operators(device float* out [[buffer(0)]]) {
  const float2 a(1, 2);
  const float3 b(a, 3), c(0.0f, a);
  const float4 d(a, a), e(b, 4), f(0, b), g(1, a, 4), h = {1, 2}, k{7};
  out[0] = b.z + c.z * 10 + d.w * 100 + e.w * 1000;
  out[1] = f.w + g.z * 10 + h.y * 100 + h.w * 1000 + k.x * 10000 + k.y;
  const int4 i = int4(float4(1.9f, -1.9f, 3.5f, 4)), j = -i;
  out[2] = i.x + i.y * 10 + j.z * 100 + (~i).w;
  const uchar4 narrow = uchar4(200) + uchar4(100);
  out[3] = narrow.x;
  const bool4 less = e < float4(2.5f);
  out[4] = any(less) + all(less) * 2 + all(!less || less) * 4 + any(less && !less) * 8;
  int4 m = i << 2;
  m |= 1;
  m %= 3;
  out[5] = m.x + m.z * 10 + m.w * 100;
  packed_float3 p(1, 2, 3);
  p.xy = p.yx;
  p *= 2.0f;
  p[2] += 0.5f;
  const float3 q = p + float3(1) - 0.5f * p;
  out[6] = q.x + q.y * 10 + q.z * 100;
  out[7] = sizeof(packed_half4) + sizeof(half3) * 10 + sizeof(packed_uchar3) * 100 + alignof(packed_float4) * 1000;
  float4 steps(1);
  steps++;
  --steps.x;
  out[8] = steps.x + steps.y * 10;
  out[9] = float(as_type<half2>(0x3c004000u).y) + as_type<float>(as_type<uint>(2.5f)) + as_type<uchar4>(0x01020304).w;
  metal::array<int, 3> list = {{4, 5, 6}};
  out[10] = list[1] + list.size() * 10;
}

// Geometry in float, each with a plain expression beside it on the host.
kernel void geometry(device const packed_float3* in [[buffer(0)]], device float* out [[buffer(1)]],
                     uint i [[thread_position_in_grid]]) {
  const float3 a = in[2 * i], b = in[2 * i + 1];
  device float* o = out + i * 16;
  o[0] = dot(a, b);
  o[1] = length(a);
  o[2] = length_squared(a);
  o[3] = distance(a, b);
  o[4] = distance_squared(a, b);
  const float3 n = normalize(a), c = cross(a, b), r = reflect(a, n), f = faceforward(a, b, n);
  o[5] = n.x;
  o[6] = n.z;
  o[7] = c.x;
  o[8] = c.y;
  o[9] = c.z;
  o[10] = r.y;
  o[11] = f.x;
  o[12] = refract(n, -n, 0.5f).z;
}

kernel void matrices(device float* out [[buffer(0)]]) {
  const float2x3 m(float3(1, 2, 3), float3(4, 5, 6));
  const float3 v = m * float2(1, 10);
  const float2 w = float3(1, 10, 100) * m;
  const float3x3 p = m * transpose(m);
  out[0] = v.x + v.z * 100;
  out[1] = w.y;
  out[2] = p[1][2];
  out[3] = determinant(float3x3(float3(2, 0, 1), float3(1, 3, 0), float3(0, 1, 4)));
  out[4] = determinant(float4x4(2.0f)) + determinant(float2x2(1, 2, 3, 4));
  half4x4 h(float4x4(3.0f));
  h = h + h * 2.0h;
  out[5] = float(h[3][3]) + float(h[3][2]);
}

kernel void packing(device const float* in [[buffer(0)]], device uint* out [[buffer(1)]], device float* back [[buffer(2)]]) {
  const float4 v(in[0], in[1], in[2], in[3]);
  out[0] = pack_float_to_unorm4x8(v);
  out[1] = pack_float_to_snorm4x8(v);
  out[2] = pack_float_to_unorm2x16(v.xy);
  out[3] = pack_float_to_snorm2x16(v.zw);
  back[0] = unpack_unorm4x8_to_float(out[0]).y;
  back[1] = unpack_snorm4x8_to_float(out[1]).z;
  back[2] = unpack_unorm2x16_to_float(out[2]).x;
  back[3] = unpack_snorm2x16_to_float(out[3]).y;
}

// Functions with a second result.
kernel void parts(device const float* in [[buffer(0)]], device float* out [[buffer(1)]], uint i [[thread_position_in_grid]]) {
  int exponent;
  float whole, cosine;
  device float* o = out + i * 8;
  o[0] = frexp(in[i], exponent);
  o[1] = exponent;
  o[2] = modf(in[i], whole);
  o[3] = whole;
  o[4] = sincos(in[i], cosine);
  o[5] = cosine;
  o[6] = ldexp(in[i], 3);
  o[7] = ilogb(in[i]);
}
