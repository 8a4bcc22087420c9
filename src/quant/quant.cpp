#include "quant/quant.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "quant/plain.h"
#include "quant/q4_0.h"
#include "quant/q4_1.h"
#include "quant/q4_k.h"
#include "quant/q5_0.h"
#include "quant/q5_1.h"
#include "quant/q5_k.h"
#include "quant/q6_k.h"
#include "quant/q8_0.h"

namespace minfer {
namespace {

template <class Format>
void decode_blocks(const std::byte* src, float* dst, int64_t elements) {
  for (int64_t i = 0; i < elements; i += Format::elements, src += Format::bytes) Format::decode(src, dst + i);
}

}  // namespace

void decode_row(DType type, const std::byte* src, float* dst, int64_t elements) {
  MINFER_CHECK(elements % info(type).block_elements == 0, "a row is a whole number of blocks");
  switch (type) {
    case DType::f32:
      return decode_blocks<quant::F32>(src, dst, elements);
    case DType::f16:
      return decode_blocks<quant::F16>(src, dst, elements);
    case DType::bf16:
      return decode_blocks<quant::BF16>(src, dst, elements);
    case DType::q4_0:
      return decode_blocks<quant::Q4_0>(src, dst, elements);
    case DType::q4_1:
      return decode_blocks<quant::Q4_1>(src, dst, elements);
    case DType::q5_0:
      return decode_blocks<quant::Q5_0>(src, dst, elements);
    case DType::q5_1:
      return decode_blocks<quant::Q5_1>(src, dst, elements);
    case DType::q8_0:
      return decode_blocks<quant::Q8_0>(src, dst, elements);
    case DType::q4_k:
      return decode_blocks<quant::Q4_K>(src, dst, elements);
    case DType::q5_k:
      return decode_blocks<quant::Q5_K>(src, dst, elements);
    case DType::q6_k:
      return decode_blocks<quant::Q6_K>(src, dst, elements);
    case DType::i32:
      break;
  }
  MINFER_CHECK(false, "decode_row: not a weight type");
}

void quantise_row_q8_0(const float* x, std::byte* dst, int64_t elements) {
  MINFER_CHECK(elements % 32 == 0, "Q8_0 rows are multiples of 32");
  for (int64_t b = 0; b < elements / 32; ++b, x += 32, dst += quant::Q8_0::bytes) {
    float amax = 0;
    for (int e = 0; e < 32; ++e) amax = std::max(amax, std::fabs(x[e]));
    const uint16_t d = f32_to_f16(amax / 127.0f);
    std::memcpy(dst, &d, sizeof d);
    const float inverse = amax > 0 ? 127.0f / amax : 0.0f;
    for (int e = 0; e < 32; ++e) {
      const float q = std::nearbyint(x[e] * inverse);  // the default rounding mode: half to even
      dst[2 + e] = std::byte(int8_t(std::clamp(q, -127.0f, 127.0f)));
    }
  }
}

}  // namespace minfer
