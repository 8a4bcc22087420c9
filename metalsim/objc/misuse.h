// Where mistakes of the host program are reported.
#pragma once

#include <string>

namespace metalsim {

/// Records a mistake of the host program, such as an over-release or a second commit. The program goes on,
/// and the offending call does nothing, so that a test can look at the report. `message` says what was done,
/// to which object, and what to do instead. The device layer decides where reports go.
void report_misuse(const std::string& message);

}  // namespace metalsim
