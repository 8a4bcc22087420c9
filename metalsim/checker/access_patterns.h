/// Estimates of how well a simdgroup's accesses fit a GPU's memory: lines of device memory and banks of
/// threadgroup memory.
///
/// Lanes run one after another here, so what they would do together is put together afterwards: for each
/// place of the code and each simdgroup, the first access of every lane in a threadgroup is taken as one
/// access of 32 lanes, and stands for the later ones. Caches, and the true sizes of lines and banks, are
/// unknown: hence estimates.
#pragma once
#include <cstdint>
#include <vector>

namespace metalsim {

class AccessPatterns {
 public:
  static constexpr uint32_t line_bytes = 128, banks = 32, bank_bytes = 4;

  AccessPatterns() : entries_(table_size) {}

  /// `offset` from the begin of the buffer or of threadgroup memory.
  void add(uint32_t site, uint32_t thread, bool device, uint64_t offset, uint32_t bytes);

  /// The threadgroup ends: what was put together is judged.
  void end_group();

  /// Sums since the last call.
  double take_uncoalesced();
  double take_bank_conflicts();

 private:
  static constexpr uint32_t table_size = 1024, lanes = 32;

  struct Entry {
    uint64_t key = 0;  ///< 0: free
    bool device = false;
    uint32_t lane_mask = 0, bytes = 0;
    uint64_t accesses = 0;
    uint64_t offset[lanes];
  };

  void judge(Entry& entry);

  std::vector<Entry> entries_;
  std::vector<uint32_t> used_;
  double uncoalesced_ = 0, bank_conflicts_ = 0;
};

}  // namespace metalsim
