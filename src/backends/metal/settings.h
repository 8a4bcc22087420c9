#pragma once
#include <string>

#include "backends/metal/program.h"

namespace minfer::metal {

/// What the environment says of this backend, read once when a backend is made. Values that differ from these
/// defaults are logged. Kernel switches exist to halve the search for a fault.
struct Settings {
#ifdef MINFER_METAL_SIM
  static constexpr int default_timeout_ms =
      600'000;  // the same work takes the processor far longer than a GPU
#else
  static constexpr int default_timeout_ms = 10'000;
#endif

  bool gemm = true;              ///< MINFER_GEMM=0 keeps prefill on the matrix-vector kernels
  bool half_staging = false;     ///< MINFER_HALF_STAGING=1 rounds the GEMM's operands to half
  bool flash = true;             ///< MINFER_NO_FLASH=1: decode attention without the flash kernel
  bool split_attention = true;   ///< MINFER_NO_SPLIT_ATTN=1: nor the split one
  bool prefill_flash = true;     ///< MINFER_NO_PREFILL_FLASH=1
  bool matmul_attention = true;  ///< MINFER_NO_MATMUL_ATTN=1: nor the three-pass one
  bool rms_256 = true;           ///< MINFER_NO_RMS_256=1: norms by one simdgroup
  int attention_chunks = 0;      ///< MINFER_ATTN_CHUNKS=N; 0: by length
  bool packed_stage = false;     ///< MINFER_PACKED_KV_STAGE=1: decode reads q8_0 KV through an f32 copy
  bool weight_copy = false;      ///< MINFER_WEIGHT_COPY=1: weights are copied out of the file
  BarrierMode barriers = BarrierMode::planned;  ///< MINFER_METAL_BARRIERS=all
  int timeout_ms =
      default_timeout_ms;  ///< MINFER_METAL_TIMEOUT_MS: a command buffer that takes longer has failed
  bool trace = false;      ///< MINFER_TRACE=1: logs every dispatch as it is encoded
  bool profile = false;    ///< MINFER_OP_PROFILE=1
  bool narrow = false;     ///< MINFER_METAL_NARROW=1: tells the software device where each operand ends

  /// Throws Error{bad_request} naming variable, value and what it takes.
  static Settings from_environment();
};

}  // namespace minfer::metal
