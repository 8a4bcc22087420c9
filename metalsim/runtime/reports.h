/// The store of reports: bounded, equal ones (kind and lines) counted once. Safe from any thread.
#pragma once
#include "metalsim/metalsim.h"

namespace metalsim {

/// Adds `report`, or counts it if one of the same kind, lines and kernel is there. Prints a new one to
/// standard error unless Options::print_reports is off. Returns whether it is new.
bool add_report(Report report);

/// Records a mistake of the host program; it goes on. `message` says what was done, to what, and what to do
/// instead.
void report_misuse(const std::string& message);

}  // namespace metalsim
