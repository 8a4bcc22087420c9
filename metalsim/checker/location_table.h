/// Places that library calls hand over, as numbers that fit into an access record.
#pragma once
#include <cstdint>

#include "../runtime/abi_state.h"

namespace metalsim {

SourceLocation location_of(uint32_t number);

}  // namespace metalsim
