// Of the warm_up kernel; read by kernels and host.
#pragma once
#ifndef __METAL__
#include <cstdint>
#endif

struct WarmUpArgs {
  uint32_t pages;
  uint32_t page_bytes;
};
