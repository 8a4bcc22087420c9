/// The store of reports: bounded, equal ones (kind and lines) counted once. Safe from any thread.
#pragma once
#include "metalsim/metalsim.h"

namespace metalsim {

/// Names a report in the store until clear_reports.
struct ReportId {
  uint64_t clears = 0;      ///< calls of clear_reports before it
  size_t index = SIZE_MAX;  ///< SIZE_MAX: the store was full
};

/// Adds `report`, or counts it if one of the same kind, lines and kernel is there. Prints a new one to
/// standard error unless Options::print_reports is off.
ReportId add_report(Report report);

/// Counts a report once more. False if reports were cleared since: make it anew.
bool repeat_report(const ReportId& id);

/// How often add_report and repeat_report were called: whether anything was found between two moments.
uint64_t report_events();

/// Records a mistake of the host program; it goes on. `message` says what was done, to what, and what to do
/// instead.
void report_misuse(const std::string& message);

}  // namespace metalsim
