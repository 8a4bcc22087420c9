// Every integer function, on every integer type: INTEGER1, 2 and 3 by number of arguments.
#include <metal_stdlib>
using namespace metal;

#define KERNEL1(name, type)                                                                             \
  kernel void name##_##type(device const type* x [[buffer(0)]], device type* out [[buffer(3)]],         \
                            uint i [[thread_position_in_grid]]) {                                       \
    out[i] = i & 1 ? name(vec<type, 2>(x[i])).y : name(x[i]);                                           \
  }
#define KERNEL2(name, type)                                                                             \
  kernel void name##_##type(device const type* x [[buffer(0)]], device const type* y [[buffer(1)]],     \
                            device type* out [[buffer(3)]], uint i [[thread_position_in_grid]]) {       \
    out[i] = i & 1 ? name(vec<type, 3>(x[i]), vec<type, 3>(y[i])).z : name(x[i], y[i]);                 \
  }
#define KERNEL3(name, type)                                                                             \
  kernel void name##_##type(device const type* x [[buffer(0)]], device const type* y [[buffer(1)]],     \
                            device const type* z [[buffer(2)]], device type* out [[buffer(3)]],         \
                            uint i [[thread_position_in_grid]]) {                                       \
    out[i] = i & 1 ? name(vec<type, 4>(x[i]), vec<type, 4>(y[i]), vec<type, 4>(z[i])).w                 \
                   : name(x[i], y[i], z[i]);                                                            \
  }
// clamp's limits have to be in order.
template <typename T>
inline T ordered_clamp(T x, T y, T z) {
  return clamp(x, min(y, z), max(y, z));
}
#define ALL_TYPES(KERNEL, name) \
  KERNEL(name, char)            \
  KERNEL(name, uchar)           \
  KERNEL(name, short)           \
  KERNEL(name, ushort)          \
  KERNEL(name, int)             \
  KERNEL(name, uint)            \
  KERNEL(name, long)            \
  KERNEL(name, ulong)
#define INTEGER1(name, ...) ALL_TYPES(KERNEL1, name)
#define INTEGER2(name, ...) ALL_TYPES(KERNEL2, name)
#define INTEGER3(name, ...) ALL_TYPES(KERNEL3, name)
#include "../integer_functions.def"

KERNEL2(mul24, int)
KERNEL2(mul24, uint)
KERNEL3(mad24, int)
KERNEL3(mad24, uint)

// Fields: offset in y, width in z.
#define FIELDS(type)                                                                                     \
  kernel void extract_bits_##type(device const type* x [[buffer(0)]], device const uchar* offset [[buffer(1)]], \
                                  device const uchar* width [[buffer(2)]], device type* out [[buffer(3)]],      \
                                  uint i [[thread_position_in_grid]]) {                                         \
    out[i] = i & 1 ? extract_bits(vec<type, 2>(x[i]), offset[i], width[i]).y                                    \
                   : extract_bits(x[i], offset[i], width[i]);                                                   \
  }                                                                                                             \
  kernel void insert_bits_##type(device const type* x [[buffer(0)]], device const uchar* offset [[buffer(1)]],  \
                                 device const uchar* width [[buffer(2)]], device type* out [[buffer(3)]],       \
                                 uint i [[thread_position_in_grid]]) {                                          \
    out[i] = insert_bits(x[i], type(0x5a), offset[i], width[i]);                                                \
  }
FIELDS(char)
FIELDS(uchar)
FIELDS(short)
FIELDS(ushort)
FIELDS(int)
FIELDS(uint)
FIELDS(long)
FIELDS(ulong)
