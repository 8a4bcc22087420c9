#include "backends/cpu/isa/avx512_quant.h"
#include "backends/cpu/isa/avx512_quant_simd.h"
#include "backends/cpu/isa/scalar_quant.h"

namespace minfer::cpu::avx512 {

void matmul_q4_0(float* y, int64_t y_stride, const std::byte* w, size_t w_row_bytes, int64_t rows,
                 const Q8Tokens& x, std::byte* scratch) {
  quant::matmul<Simd, quant::Q4_0<Simd>>(scalar::matmul_q4_0, y, y_stride, w, w_row_bytes, rows, x, scratch);
}

void matmul_q4_1(float* y, int64_t y_stride, const std::byte* w, size_t w_row_bytes, int64_t rows,
                 const Q8Tokens& x, std::byte* scratch) {
  quant::matmul<Simd, quant::Q4_1<Simd>>(scalar::matmul_q4_1, y, y_stride, w, w_row_bytes, rows, x, scratch);
}

void matmul_q5_0(float* y, int64_t y_stride, const std::byte* w, size_t w_row_bytes, int64_t rows,
                 const Q8Tokens& x, std::byte* scratch) {
  quant::matmul<Simd, quant::Q5_0<Simd>>(scalar::matmul_q5_0, y, y_stride, w, w_row_bytes, rows, x, scratch);
}

void matmul_q5_1(float* y, int64_t y_stride, const std::byte* w, size_t w_row_bytes, int64_t rows,
                 const Q8Tokens& x, std::byte* scratch) {
  quant::matmul<Simd, quant::Q5_1<Simd>>(scalar::matmul_q5_1, y, y_stride, w, w_row_bytes, rows, x, scratch);
}

void matmul_q8_0(float* y, int64_t y_stride, const std::byte* w, size_t w_row_bytes, int64_t rows,
                 const Q8Tokens& x, std::byte* scratch) {
  quant::matmul<Simd, quant::Q8_0<Simd>>(scalar::matmul_q8_0, y, y_stride, w, w_row_bytes, rows, x, scratch);
}

}  // namespace minfer::cpu::avx512
