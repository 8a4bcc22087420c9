#pragma once
#include "backends/cpu/isa/kernels.h"

/// The integer kernels in plain loops: the reference of every other instruction set. kernels.h defines each.
namespace minfer::cpu::scalar {

void quantise_q8(const Q8Rows& to, const float* x, int64_t n);
void store_q8_0(std::byte* dst, const float* x, int64_t n);
void load_q8_0(float* dst, const std::byte* src, int64_t n);

void matmul_q4_0(float* y, int64_t y_stride, const std::byte* w, size_t w_row_bytes, int64_t rows,
                 const Q8Tokens& x, std::byte* scratch);
void matmul_q4_1(float* y, int64_t y_stride, const std::byte* w, size_t w_row_bytes, int64_t rows,
                 const Q8Tokens& x, std::byte* scratch);
void matmul_q5_0(float* y, int64_t y_stride, const std::byte* w, size_t w_row_bytes, int64_t rows,
                 const Q8Tokens& x, std::byte* scratch);
void matmul_q5_1(float* y, int64_t y_stride, const std::byte* w, size_t w_row_bytes, int64_t rows,
                 const Q8Tokens& x, std::byte* scratch);
void matmul_q8_0(float* y, int64_t y_stride, const std::byte* w, size_t w_row_bytes, int64_t rows,
                 const Q8Tokens& x, std::byte* scratch);
void matmul_q4_k(float* y, int64_t y_stride, const std::byte* w, size_t w_row_bytes, int64_t rows,
                 const Q8Tokens& x, std::byte* scratch);
void matmul_q5_k(float* y, int64_t y_stride, const std::byte* w, size_t w_row_bytes, int64_t rows,
                 const Q8Tokens& x, std::byte* scratch);
void matmul_q6_k(float* y, int64_t y_stride, const std::byte* w, size_t w_row_bytes, int64_t rows,
                 const Q8Tokens& x, std::byte* scratch);

}  // namespace minfer::cpu::scalar
