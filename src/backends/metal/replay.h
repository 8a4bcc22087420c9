#pragma once
#include "backends/metal/device/submission.h"
#include "backends/metal/profile.h"
#include "backends/metal/program.h"
#include "backends/metal/settings.h"

namespace minfer::metal {

/// Writes a program's dispatches into one command buffer and commits it. `profile` may be null.
Submission replay(Device& device, MetalProgram& program, const Settings& settings, OpProfile* profile);

}  // namespace minfer::metal
