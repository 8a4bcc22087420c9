#include "access_patterns.h"

#include <algorithm>
#include <utility>

namespace metalsim {

namespace {

void keep_distinct(std::vector<uint64_t>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

}  // namespace

void AccessPatterns::add(uint32_t site, uint32_t thread, bool device, uint64_t offset, uint32_t bytes) {
  const uint64_t key = uint64_t(site) << 6 | thread / lanes << 1 | 1;
  const uint32_t place = uint32_t((key * 0x9e3779b97f4a7c15u) >> 54);
  Entry& entry = entries_[place];
  if (entry.key != key) {
    if (entry.key)
      judge(entry);
    else
      used_.push_back(place);
    entry.key = key;
    entry.device = device;
    entry.lane_mask = 0;
    entry.accesses = 0;
    entry.bytes = bytes;
  }
  ++entry.accesses;
  const uint32_t bit = 1u << thread % lanes;
  if (entry.lane_mask & bit) return;
  entry.lane_mask |= bit;
  entry.offset[thread % lanes] = offset;
}

/// Turns that the lanes' access takes beyond the fewest in which as many bytes could be had.
void AccessPatterns::judge(Entry& entry) {
  const uint32_t present = uint32_t(__builtin_popcount(entry.lane_mask));
  const uint32_t unit = entry.device ? line_bytes : bank_bytes;
  std::vector<uint64_t> units, words;  // lines or bank words touched; words of 4 bytes touched
  for (uint32_t lane = 0; lane < lanes; ++lane) {
    if (!(entry.lane_mask >> lane & 1)) continue;
    const uint64_t first = entry.offset[lane], last = first + entry.bytes - 1;
    for (uint64_t u = first / unit; u <= last / unit; ++u) units.push_back(u);
    for (uint64_t w = first / bank_bytes; w <= last / bank_bytes; ++w) words.push_back(w);
  }
  keep_distinct(units);
  keep_distinct(words);
  const uint64_t fewest = (words.size() * bank_bytes + line_bytes - 1) / line_bytes;  // 32 banks hold a line
  uint64_t turns = units.size();
  if (!entry.device) {
    uint32_t in_bank[banks] = {};
    turns = 0;
    for (uint64_t word : words) turns = std::max<uint64_t>(turns, ++in_bank[word % banks]);
  }
  const double executions = double(entry.accesses) / present;
  const double extra = turns > fewest ? double(turns - fewest) * executions : 0;
  (entry.device ? uncoalesced_ : bank_conflicts_) += extra;
  entry.key = 0;
}

void AccessPatterns::end_group() {
  for (uint32_t place : used_)
    if (entries_[place].key) judge(entries_[place]);
  used_.clear();
}

double AccessPatterns::take_uncoalesced() { return std::exchange(uncoalesced_, 0); }
double AccessPatterns::take_bank_conflicts() { return std::exchange(bank_conflicts_, 0); }

}  // namespace metalsim
