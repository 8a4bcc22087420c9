#include "backends/metal/profile.h"

#include <algorithm>
#include <vector>

#include "base/log.h"

namespace minfer::metal {

void OpProfile::encoded(const std::string& kernel, std::chrono::nanoseconds host) {
  Cost& cost = costs_[kernel];
  ++cost.calls;
  cost.host += host;
}

void OpProfile::submitted(double gpu_seconds) {
  gpu_seconds_ += gpu_seconds;
  log(LogLevel::info, "submission {}: {:.3f} ms on the device", ++submissions_, gpu_seconds * 1e3);
  if (submissions_ == 1) print(20);
}

void OpProfile::print(size_t most) const {
  std::vector<std::pair<std::string, Cost>> rows(costs_.begin(), costs_.end());
  std::sort(rows.begin(), rows.end(),
            [](const auto& a, const auto& b) { return a.second.host > b.second.host; });
  rows.resize(std::min(rows.size(), most));
  for (const auto& [kernel, cost] : rows) {
    log(LogLevel::info, "  {:<40} {:>8} calls {:>10.1f} us to encode", kernel, cost.calls,
        double(cost.host.count()) / 1e3);
  }
}

OpProfile::~OpProfile() {
  log(LogLevel::info, "{} submissions, {:.3f} ms on the device", submissions_, gpu_seconds_ * 1e3);
  print(costs_.size());
}

}  // namespace minfer::metal
