#pragma once
#include <atomic>

#include "engine/sampler.h"
#include "minfer/minfer.h"

struct minfer_sampler {
  explicit minfer_sampler(const minfer::SamplingParams& params) : sampler(params) {}
  minfer::Sampler sampler;
  std::atomic<bool> busy = false;  ///< a call is running
};

namespace minfer::api {

/// `given` null: the defaults. The ranges are the engine's to check.
SamplingParams engine_sampling(const minfer_sampling* given);

}  // namespace minfer::api
