#include "backends/cpu/isa/neon_quant.h"
#include "backends/cpu/isa/neon_quant_simd.h"
#include "backends/cpu/isa/scalar_quant.h"

namespace minfer::cpu::neon {

void matmul_q4_k(float* y, int64_t y_stride, const std::byte* w, size_t w_row_bytes, int64_t rows,
                 const Q8Tokens& x, std::byte* scratch) {
  quant::matmul<Simd, quant::Q4_K<Simd>>(scalar::matmul_q4_k, y, y_stride, w, w_row_bytes, rows, x, scratch);
}

void matmul_q5_k(float* y, int64_t y_stride, const std::byte* w, size_t w_row_bytes, int64_t rows,
                 const Q8Tokens& x, std::byte* scratch) {
  quant::matmul<Simd, quant::Q5_K<Simd>>(scalar::matmul_q5_k, y, y_stride, w, w_row_bytes, rows, x, scratch);
}

void matmul_q6_k(float* y, int64_t y_stride, const std::byte* w, size_t w_row_bytes, int64_t rows,
                 const Q8Tokens& x, std::byte* scratch) {
  quant::matmul<Simd, quant::Q6_K<Simd>>(scalar::matmul_q6_k, y, y_stride, w, w_row_bytes, rows, x, scratch);
}

}  // namespace minfer::cpu::neon
