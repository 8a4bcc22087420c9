// Planned faults, as the device asks for them. The public side is metalsim/device.h.
#pragma once

#include <optional>
#include <string>

#include "metalsim/device.h"

namespace metalsim::device {

/// Plans what METALSIM_FAULT lists. False if it cannot be read; `problem` then says what is expected.
bool read_faults(std::string& problem);

/// Counts one commit; the fault planned for it, if any.
std::optional<Fault> fault_of_next_command_buffer();

/// Counts one newBuffer; whether it is to answer null.
bool next_buffer_fails();

}  // namespace metalsim::device
