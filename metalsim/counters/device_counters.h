/// What the device layer tells the counters. All safe from any thread; all cheap when Options::statistics is
/// off.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "metalsim/metalsim.h"

namespace metalsim {

/// One encoder, when it has executed.
void count_encoder(const EncoderCounters& encoder);

/// Buffers made and released; kept always, since peak memory is cheap to know.
void count_buffer_allocated(size_t bytes);
void count_buffer_released(size_t bytes);

}  // namespace metalsim
