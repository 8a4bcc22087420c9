#include "backends/cpu/isa/attention_kernels.h"
#include "backends/cpu/isa/attention_wide.h"
#include "backends/cpu/isa/matmul_float.h"
#include "backends/cpu/isa/neon_quant.h"
#include "backends/cpu/isa/tables.h"
#include "backends/cpu/isa/vec16_neon.h"

namespace minfer::cpu::neon {

constinit const KernelTable table = {
    .isa = "neon",
    .runs_here = cpu_runs_neon,
    .quantise_q8 = quantise_q8,
    .store_q8_0 = store_q8_0,
    .store_f16 = cpu::store_f16<Vec16>,
    .load_f16 = cpu::load_f16<Vec16>,
    .load_q8_0 = load_q8_0,
    .matmul_q4_0 = matmul_q4_0,
    .matmul_q4_1 = matmul_q4_1,
    .matmul_q5_0 = matmul_q5_0,
    .matmul_q5_1 = matmul_q5_1,
    .matmul_q8_0 = matmul_q8_0,
    .matmul_q4_k = matmul_q4_k,
    .matmul_q5_k = matmul_q5_k,
    .matmul_q6_k = matmul_q6_k,
    .matmul_f32 = cpu::matmul_f32<Vec16>,
    .matmul_f16 = cpu::matmul_f16<Vec16>,
    .matmul_bf16 = cpu::matmul_bf16<Vec16>,
    .rms_norm_f32 = cpu::rms_norm_f32<Vec16>,
    .add_f32 = cpu::add_f32<Vec16>,
    .mul_f32 = cpu::mul_f32<Vec16>,
    .scale_f32 = cpu::scale_f32<Vec16>,
    .silu_f32 = cpu::silu_f32<Vec16>,
    .swiglu_f32 = cpu::swiglu_f32<Vec16>,
    .softmax_f32 = cpu::softmax_f32<Vec16>,
    .rope_f32 = cpu::rope_f32<Vec16>,
    .attend = cpu::attend<Vec16>,
    .lay_queries = cpu::lay_queries<Vec16>,
    .attend_wide = cpu::attend_wide<Vec16>,
    .attend_merge_f32 = cpu::attend_merge_f32<Vec16>,
};

}  // namespace minfer::cpu::neon
