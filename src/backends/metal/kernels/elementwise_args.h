// Of the elementwise kernels; read by kernels and host.
#pragma once
#ifndef __METAL__
#include <cstdint>
#endif

/// `count` values; a row that is added to every token repeats after `period`.
struct ElementwiseArgs {
  uint32_t count;
  uint32_t period;
};
