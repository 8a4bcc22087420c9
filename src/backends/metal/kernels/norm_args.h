#pragma once
#ifndef __METAL__
#include <cstdint>
#endif

/// rows x width values, each row normalised by itself.
struct NormArgs {
  int32_t rows, width;
  float eps;
};
