#include "finite_check.h"

#include <cstring>

#include "defects.h"

namespace metalsim {

namespace {

/// Whether all exponent bits of the value at `p` are set.
bool is_finite(const unsigned char* p, ElementType type) {
  if (type == ElementType::f32) {
    uint32_t bits;
    std::memcpy(&bits, p, 4);
    return (bits & 0x7f800000u) != 0x7f800000u;
  }
  uint16_t bits;
  std::memcpy(&bits, p, 2);
  const uint16_t exponent = type == ElementType::f16 ? 0x7c00 : 0x7f80;
  return (bits & exponent) != exponent;
}

void check_binding(const Dispatch& dispatch, const Binding& binding, ElementType type) {
  const Memory& memory = *static_cast<Memory*>(binding.memory);
  if (!memory.shadow) return;
  const size_t step = type == ElementType::f32 ? 4 : 2;
  for (size_t at = 0; at + step <= binding.bytes; at += step) {
    const size_t offset = binding.memory_offset + at;
    const Cell* cell = memory.shadow->find(offset);
    if (!cell) {  // nothing near was touched: on to the next page
      const size_t skip = Shadow::page_bytes - offset % Shadow::page_bytes;
      at += (skip > step ? skip - step : 0) / step * step;
      continue;
    }
    if (Who::dispatch(cell->write.who) != (dispatch.number & Who::dispatch_mask)) continue;
    if (is_finite(binding.data + at, type)) continue;
    report_not_finite(dispatch, cell->write, *static_cast<Memory*>(binding.memory), offset);
  }
}

}  // namespace

void check_finite_results(const Dispatch& dispatch) {
  const Kernel& kernel = *dispatch.kernel;
  for (uint32_t i = 0; i < max_buffers; ++i)
    if ((kernel.writable >> i & 1) && dispatch.buffers[i].memory && kernel.elements[i] != ElementType::other)
      check_binding(dispatch, dispatch.buffers[i], kernel.elements[i]);
}

}  // namespace metalsim
