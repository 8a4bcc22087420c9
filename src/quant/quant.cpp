#include "quant/quant.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "base/fp16.h"
#include "quant/bf16.h"
#include "quant/f16.h"
#include "quant/f32.h"
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

template <auto decode_block, int64_t block_elements, int64_t block_bytes>
void decode_blocks(const std::byte* src, float* dst, int64_t elements) {
  for (int64_t block = 0; block < elements / block_elements; ++block)
    decode_block(src + block * block_bytes, dst + block * block_elements);
}

/// Ties to even. What is not a number becomes 0: a NaN in x, or 0 times the infinite reciprocal of an amax
/// below 127 / FLT_MAX (whose d is 0 as a half, so that the block decodes to zeros in any case).
int8_t round_to_int8(float v) {
  if (std::isnan(v)) return 0;
  return int8_t(std::nearbyint(std::clamp(v, -127.0f, 127.0f)));
}

}  // namespace

void decode_row(DType type, const std::byte* src, float* dst, int64_t elements) {
  MINFER_CHECK(type != DType::i32, "decode_row reads weight types");
  MINFER_CHECK(elements % info(type).block_elements == 0, "decode_row reads whole blocks");
  switch (type) {
#define QUANT(name, id, block_elements, block_bytes) \
  case DType::name:                                  \
    return decode_blocks<quant::decode_##name, block_elements, block_bytes>(src, dst, elements);
#include "quant/quants.def"
#undef QUANT
    case DType::i32:
      break;
  }
}

void quantise_row_q8_0(const float* x, std::byte* dst, int64_t elements) {
  constexpr int block_elements = 32;
  MINFER_CHECK(elements % block_elements == 0, "quantise_row_q8_0 writes whole blocks");
  for (; elements > 0; elements -= block_elements, x += block_elements) {
    float amax = 0;
    for (int e = 0; e < block_elements; ++e) amax = std::max(amax, std::fabs(x[e]));
    // 127 / amax and not 1 / d: d is rounded to a half, and every device must take the same reciprocal.
    const float scale = amax > 0 ? 127.0f / amax : 0.0f;
    const uint16_t d = f32_to_f16(amax / 127.0f);
    quant::BlockQ8_0 block;
    block.d = {uint8_t(d), uint8_t(d >> 8)};
    for (int e = 0; e < block_elements; ++e) block.qs[e] = round_to_int8(x[e] * scale);
    std::memcpy(dst, &block, sizeof block);
    dst += sizeof block;
  }
}

}  // namespace minfer
