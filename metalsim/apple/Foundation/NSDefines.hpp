// metalsim's own subset of metal-cpp: the same names and signatures, over the simulator's message runtime.
#pragma once

#define _NS_EXPORT __attribute__((visibility("default")))
#define _NS_EXTERN extern "C" _NS_EXPORT
#define _NS_INLINE inline __attribute__((always_inline))
#define _NS_PACKED __attribute__((packed))
