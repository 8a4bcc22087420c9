#include "reports.h"

#include <cstdio>
#include <mutex>

namespace metalsim {

namespace {

struct Store {
  std::mutex mutex;
  std::vector<Report> reports;
  uint64_t made = 0, events = 0, clears = 0;
};
// Never destroyed: objects released at the program's end may still report.
Store& store() {
  static Store& store = *new Store;
  return store;
}

bool same(const Report& a, const Report& b) {
  if (a.kind != b.kind || a.kernel != b.kernel) return false;
  if (a.kind == ReportKind::host_misuse) return a.message == b.message;
  return a.place.line == b.place.line && a.place.file == b.place.file && a.other.line == b.other.line &&
         a.other.file == b.other.file;
}

std::string place_text(const ReportPlace& place) {
  std::string text = place.line ? place.file + ":" + std::to_string(place.line) : "an unknown line";
  return text + ", threadgroup (" + std::to_string(place.group[0]) + "," + std::to_string(place.group[1]) +
         "," + std::to_string(place.group[2]) + "), thread " + std::to_string(place.thread);
}

}  // namespace

const char* name_of(ReportKind kind) {
  switch (kind) {
    case ReportKind::device_out_of_bounds:
      return "device out of bounds";
    case ReportKind::threadgroup_out_of_bounds:
      return "threadgroup out of bounds";
    case ReportKind::read_only_write:
      return "write to read-only memory";
    case ReportKind::threadgroup_race:
      return "threadgroup race";
    case ReportKind::device_race:
      return "device race";
    case ReportKind::cross_group_race:
      return "race across threadgroups";
    case ReportKind::missing_barrier:
      return "missing memoryBarrier";
    case ReportKind::barrier_divergence:
      return "barrier divergence";
    case ReportKind::simd_divergence:
      return "simd divergence";
    case ReportKind::uninitialised_threadgroup:
      return "uninitialised threadgroup memory";
    case ReportKind::uninitialised_device:
      return "uninitialised device memory";
    case ReportKind::misaligned:
      return "misaligned access";
    case ReportKind::arithmetic_overflow:
      return "arithmetic overflow";
    case ReportKind::array_bounds:
      return "array index out of bounds";
    case ReportKind::order_dependence:
      return "order dependence";
    case ReportKind::not_finite:
      return "not finite";
    case ReportKind::kernel_misuse:
      return "kernel misuse";
    case ReportKind::host_misuse:
      return "host misuse";
  }
  return "report";
}

std::string Report::text() const {
  std::string text = std::string("metalsim: ") + name_of(kind) + ": " + message;
  if (!kernel.empty()) {
    text += "\n  kernel " + kernel;
    text += "\n  at     " + place_text(place);
    if (other.line) text += "\n  and    " + place_text(other);
  }
  if (!label.empty()) text += "\n  in     " + label + ", offset " + std::to_string(offset);
  if (!hint.empty()) text += "\n  fix    " + hint;
  return text;
}

std::vector<Report> reports() {
  std::lock_guard lock(store().mutex);
  return store().reports;
}

void clear_reports() {
  std::lock_guard lock(store().mutex);
  store().reports.clear();
  store().clears++;
}

uint64_t report_count() {
  std::lock_guard lock(store().mutex);
  return store().made;
}

ReportId add_report(Report report) {
  const Options set = options();
  Store& s = store();
  std::lock_guard lock(s.mutex);
  s.events++;
  for (size_t i = 0; i < s.reports.size(); ++i)
    if (same(s.reports[i], report)) {
      s.reports[i].times++;
      return {s.clears, i};
    }
  s.made++;
  if (s.reports.size() >= set.max_reports) return {s.clears, SIZE_MAX};
  if (set.print_reports) std::fprintf(stderr, "%s\n", report.text().c_str());
  s.reports.push_back(std::move(report));
  return {s.clears, s.reports.size() - 1};
}

bool repeat_report(const ReportId& id) {
  Store& s = store();
  std::lock_guard lock(s.mutex);
  if (id.clears != s.clears) return false;
  s.events++;
  if (id.index < s.reports.size()) s.reports[id.index].times++;
  return true;
}

uint64_t report_events() {
  std::lock_guard lock(store().mutex);
  return store().events;
}

void report_misuse(const std::string& message) {
  Report report{};
  report.kind = ReportKind::host_misuse;
  report.message = message;
  add_report(std::move(report));
}

}  // namespace metalsim
