#include "device/faults.h"

#include <cstdlib>
#include <mutex>
#include <sstream>
#include <vector>

namespace metalsim {
namespace {

struct Plan {
  std::mutex mutex;
  std::vector<Fault> faults;  // Fault::at counts down; 0 means now
};

Plan& plan() {
  static auto* const instance = new Plan;
  return *instance;
}

/// Counts an event of the given kind and takes the fault that is due, if any.
std::optional<Fault> take_due(bool buffers) {
  Plan& all = plan();
  std::lock_guard lock(all.mutex);
  std::optional<Fault> due;
  for (auto it = all.faults.begin(); it != all.faults.end();) {
    const bool concerned = (it->kind == FaultKind::no_buffer) == buffers;
    if (concerned && --it->at == 0) {
      due = *it;
      it = all.faults.erase(it);
    } else {
      ++it;
    }
  }
  return due;
}

/// One entry of METALSIM_FAULT: NAME@NUMBER, or hang@NUMBER:MILLISECONDS.
std::optional<Fault> parse_fault(const std::string& text) {
  static const struct {
    const char* name;
    FaultKind kind;
  } names[] = {{"fail", FaultKind::fail},
               {"hang", FaultKind::hang},
               {"oom", FaultKind::out_of_memory},
               {"pagefault", FaultKind::page_fault},
               {"nobuffer", FaultKind::no_buffer}};
  const size_t at = text.find('@');
  if (at == std::string::npos) return {};
  for (const auto& entry : names) {
    if (text.substr(0, at) != entry.name) continue;
    char* end = nullptr;
    Fault fault{entry.kind, std::strtoull(text.c_str() + at + 1, &end, 10), 0};
    if (entry.kind == FaultKind::hang) {
      if (*end != ':') return {};
      fault.milliseconds = static_cast<uint32_t>(std::strtoul(end + 1, &end, 10));
    }
    if (*end != '\0' || fault.at == 0) return {};
    return fault;
  }
  return {};
}

}  // namespace

void inject_fault(const Fault& fault) {
  std::lock_guard lock(plan().mutex);
  plan().faults.push_back(fault);
  if (fault.at == 0) plan().faults.back().at = 1;
}

void clear_faults() {
  std::lock_guard lock(plan().mutex);
  plan().faults.clear();
}

namespace device {

bool read_faults(std::string& problem) {
  const char* const text = std::getenv("METALSIM_FAULT");
  if (!text) return true;
  std::istringstream list(text);
  for (std::string entry; std::getline(list, entry, ',');) {
    const auto fault = parse_fault(entry);
    if (!fault) {
      problem = "METALSIM_FAULT: \"" + entry +
                "\" cannot be read; expected fail@N, oom@N, pagefault@N, nobuffer@N or hang@N:MILLISECONDS, "
                "N from 1";
      return false;
    }
    inject_fault(*fault);
  }
  return true;
}

std::optional<Fault> fault_of_next_command_buffer() { return take_due(false); }

bool next_buffer_fails() { return take_due(true).has_value(); }

}  // namespace device
}  // namespace metalsim
