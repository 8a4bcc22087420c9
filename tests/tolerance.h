#pragma once
#include <cmath>

/// Every tolerance a test may use: its name, its formula, where it comes from. Tests never write a bare
/// number.
namespace minfer::tol {

// CPU float kernels. `u` bounds the relative error of one f32 rounding; sums follow Higham, "Accuracy and
// Stability of Numerical Algorithms", 2nd ed., ch. 3 and 4. A sum16 of n terms rounds n/16 + 4 times on the
// way of any term (a lane's chain, then four halvings).
inline constexpr double u = 0x1p-24;
inline constexpr double smallest_f32 = 0x1p-149;  ///< what an underflowing result may lose

constexpr double sum16_roundings(double n) { return n / 16 + 1 + 4; }

/// exp_f32's contract.
inline constexpr double exp_ulps = 2;

/// Absolute, for a dot of which the products' magnitudes add up to `magnitude`.
constexpr double dot(double n, double magnitude) { return sum16_roundings(n) * u * magnitude; }

/// Relative: half the sum's error through the root; then /n, +eps, root, 1/root and two products.
constexpr double rms_norm(double n) { return (sum16_roundings(n) / 2 + 6) * u; }

/// Relative: exp to 2 ulp (4u), then the sum and the quotient.
inline constexpr double silu = 6 * u;

/// Relative: numerator and sum of exponentials whose argument x - max was rounded (|x - max| <= range), the
/// sum, 1/sum and the last product.
constexpr double softmax(double n, double range) { return (2 * (4 + range) + sum16_roundings(n) + 2) * u; }

/// Absolute, per unit of |a| + |b|: a product and an fma.
inline constexpr double rope = 2 * u;

/// Absolute, per unit of max |v|: scores off by `score_error` move a weight by twice that (in its own
/// exponential and in the sum); exponentials as in softmax; one rounding a row, and at each of the `states`
/// (tiles, merges) an exponential (4u + u * range) and two products.
constexpr double attention(double rows, double states, double score_error, double range) {
  return 2 * score_error + (2 * (4 + range) + rows + states * (6 + range)) * u;
}

/// Published weights of the half-range attention case, given to three digits.
inline constexpr double half_range_case = 1e-3;

// Logits of whole models, as a share of the reference's largest |logit| (tests/data/golden: float64 forward
// passes of the exact weights).

/// F32, F16 and BF16 weights, f32 activations: about 30 matmuls and norms of up to 512 terms in a row, each
/// within sum16_roundings(512) * u = 2.2e-6 of its own magnitude, adding up like independent errors.
inline constexpr double logits_float = 1e-5;

/// Block-quantised weights, whose matmuls round activations to 8 bits: the largest error that llama.cpp,
/// which does the same, was measured to have on these very files (f16 keys and values, flash attention).
inline constexpr double logits_quant = 2.3e-2;    ///< Q4_0 to Q8_0
inline constexpr double logits_quant_k = 3.7e-2;  ///< Q4_K, Q5_K and Q6_K

/// Added by f16 keys and values: each is off by at most 2^-11 of itself; four such errors (K and V in two
/// layers) in the same direction.
inline constexpr double kv_f16 = 4 * 0x1p-11;

/// Added by q8_0 keys and values: each is off by at most half a step of 1/127 of its block's largest; the
/// same four errors, and as much again for the f16 scale.
inline constexpr double kv_q8_0 = 2 * 4 * 0.5 / 127;
/// Absolute, for an integer dot over blocks of 32 whose parts' magnitudes (scale * q and minimum apart) add
/// up to `magnitude`: at most two roundings in a block's factor, and two fmas a block on the way of the
/// first.
constexpr double quantised_dot(double blocks, double magnitude) { return (2 + 2 * blocks) * u * magnitude; }

/// In steps of a block's scale d: half of one, and the roundings of d, of 127 / amax and of their products,
/// each of 127 steps at most.
inline constexpr double q8_step = 0.5 + 4 * 127 * u;

// Ops through a backend.

/// Relative: silu, then one product.
inline constexpr double swiglu = silu + u;

/// Absolute, for an integer dot over `blocks` blocks of 32 whose contributions add up to `magnitude`: up to
/// three products and two accumulations a block, each of which later accumulations round again.
constexpr double dot_blocks(double blocks, double magnitude) { return (2 * blocks + 5) * u * magnitude; }

/// Absolute: an activation of a block whose largest is `amax`, rounded to a multiple of amax / 127; the
/// factor leaves room for the scale's own rounding.
constexpr double activation_q8(double amax) { return amax / 254 * (1 + 256 * u); }

/// Absolute: what activation_q8 leaves, rounded once more in the same way; and the f32 roundings of the first
/// plane's product and difference, of amax each.
constexpr double activation_q8x2(double amax) { return activation_q8(activation_q8(amax)) + 2 * u * amax; }

/// Published value of the small-scale dot case, given to six digits.
inline constexpr double small_scale_case = 1e-3;

/// Absolute, per unit of |a| + |b|: the rotation, and cos and sin rounded from double.
inline constexpr double rope_with_table = rope + u;

/// Pearson's chi-square over at most 9 degrees of freedom exceeds this once in 10^4 fair runs (tables of the
/// distribution); the seed is fixed, so a passing test stays passing.
inline constexpr double chi_square_9 = 33.72;

// The Metal backend. Its kernels are compiled with fast-math: exp and division within 4 ulp each, other
// rounding as above; a tighter figure would measure the device, not the kernel.

/// Of the largest result: a chain of `n` products in f32. Its roundings are of either sign and add up like a
/// random walk; 4 deviations.
inline double metal_gemm(double n) { return 4 * std::sqrt(n) * u; }

/// Of the largest result: the same with operands rounded to half, each product off by up to 2^-10. The
/// published class.
inline constexpr double metal_gemm_half = 5e-3;

/// Absolute, where the largest result is 1: the published bar of half staging for rows of 896.
inline constexpr double metal_gemm_absolute = 2.5e-3;

/// Relative to 1 + |value|: silu and what is multiplied to it.
inline constexpr double metal_silu = 12 * u;

/// Relative: a thread adds the squares of every 1024th value four at a time, then 2 + 5 + 5 halvings, and one tail
/// value; half of that through the root; then the quotient and the root (4 ulp each, of 2u), +eps and two products.
constexpr double metal_rms_norm(double n) { return ((n / 1024 + 14) / 2 + 2 * (4 + 4) + 3) * u; }

/// Absolute, for a pair of length 1: cos and sin within 4 ulp (of u each, below 1), the angle's own rounding (below pi),
/// a product and an fma.
inline constexpr double metal_rope = (4 + 4 + 4 + 2) * u;

/// Of the largest |logit|: a device and the CPU, or a device and itself in other tiles, with float weights. Both keep f32
/// activations and add in other orders; the contract of a device is 1e-4 of the exact value.
inline constexpr double metal_logits = 1e-4;
/// The same with the GEMM's operands rounded to half: the published class.
inline constexpr double metal_logits_half = 5e-3;
/// Absolute, where |q| <= 3, |k| <= 2 and |v| <= 1.5 and scores reach 30: an attention over exact f32 rows. One row
/// that is counted twice or left out shows from 5e-2 on.
inline constexpr double metal_attention_f32 = 2e-4;

/// The published bars of the cosine between an attention and the exact one, and between two kernels of one attention.
/// They hold the direction of results that are small; the bar above holds what a cosine cannot see.
inline constexpr double metal_attention_cosine = 0.999;
inline constexpr double metal_attention_twin_cosine = 0.9999;

/// Absolute, between two attentions over the same normal rows that add in other orders: scores below 10, off by
/// 4 roundings each, times |v| below 4.
inline constexpr double metal_attention_order = 10 * 4 * u * 4;

/// The same over f16 rows, against their exact values: a matrix unit may round what it multiplies with a half to half.
inline constexpr double metal_attention_f16 = 2e-3;
/// Per unit of the largest result: what any of its kernels may differ from the CPU's float ones.
inline constexpr double metal_largest = 1e-4;

/// Absolute, for a matrix-vector product of `cols` values; `magnitude`: the row's largest |weight| times the sum of
/// |activation|. On the way of a term: a lane's chain of fma over a 32nd of the row, rounded up to its share of a block;
/// five halvings between lanes and as many between simdgroups; a scale and its product. A weight's parts (quant and
/// offset or minimum, which are added up apart) are together up to three times as large as the weight.
constexpr double metal_matvec(double cols, double magnitude) {
  return (cols / 32 + 32 + 5 + 5 + 4) * u * 3 * magnitude;
}

/// Absolute, of logits up to about 20 and over eight steps: q8_0 rows of KV against f32 rows, the worst logit and the
/// likeliest token's. The published class; 2.4 and 0.5 were measured elsewhere on models of half a billion weights.
inline constexpr double packed_kv_worst = 4.0;
inline constexpr double packed_kv_likeliest = 1.0;

// Templates made to harm. None of these is a measurement of speed.

/// Processor seconds: the limits end a rendering after about half a second here, so this is reached only
/// where something grows out of proportion; sanitizers and a busy machine are slower by less.
inline constexpr double hostile_template_seconds = 10;

/// MiB of the whole test program: the memory of one rendering (256), doubled while a string or vector grows,
/// and what sanitizers keep of freed memory.
inline constexpr double hostile_template_mib = 1024;

}  // namespace minfer::tol
