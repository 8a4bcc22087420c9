// Constants that Metal defines as macros. (mslgen has expanded the kernel's own macros before; these names
// reach the compiler as they stand in the source.)
#pragma once

#include <cfloat>
#include <climits>

#undef INFINITY
#undef NAN
#undef MAXFLOAT
#undef HUGE_VALF
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define MAXFLOAT FLT_MAX
#define HUGE_VALF __builtin_huge_valf()
#define HALF_MAX 65504.0f16
#define HALF_MIN 0x1p-14f16
#define HALF_EPSILON 0x1p-10f16
#define MAXHALF HALF_MAX
#define HUGE_VALH __builtin_huge_valf()
#define M_E_F 2.71828182845904523536f
#define M_LOG2E_F 1.44269504088896340736f
#define M_LOG10E_F 0.434294481903251827651f
#define M_LN2_F 0.693147180559945309417f
#define M_LN10_F 2.30258509299404568402f
#define M_PI_F 3.14159265358979323846f
#define M_PI_2_F 1.57079632679489661923f
#define M_PI_4_F 0.785398163397448309616f
#define M_1_PI_F 0.318309886183790671538f
#define M_2_PI_F 0.636619772367581343076f
#define M_2_SQRTPI_F 1.12837916709551257390f
#define M_SQRT2_F 1.41421356237309504880f
#define M_SQRT1_2_F 0.707106781186547524401f
#define M_PI_H half(M_PI_F)
