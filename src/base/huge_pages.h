#pragma once
#include <cstddef>
#include <mutex>
#include <span>
#include <vector>

namespace minfer {

/// Moves what lies in read-only private mappings to pages of 2 MiB, at the same addresses: pointers into the
/// mappings stay valid and other threads may read meanwhile. Cores read large pages up to 1.5 times as fast
/// as the 4 KiB ones of a mapped file, which is then needed no more. What the mappings took is given back
/// piece by piece, so that at no time much more is resident than before. Where the system has no large pages
/// to give there is nothing to move.
class HugePageMover {
 public:
  static constexpr size_t page = size_t(2) << 20;

  /// Mappings of whole files, which must live as long as this: bytes that no file holds would be lost. What
  /// is no whole aligned large page stays.
  explicit HugePageMover(std::vector<std::span<const std::byte>> mappings);

  size_t bytes() const { return bytes_; }  ///< to be moved in all
  /// Moves the next `most` bytes (at least one page). False once nothing is left, or if the system refuses
  /// memory, which ends it: what is moved stays moved. Of calls at one time one does the work.
  bool step(size_t most);

 private:
  std::vector<std::span<const std::byte>> ranges_;  ///< whole aligned pages
  size_t bytes_ = 0;
  std::mutex mutex_;
  size_t range_ = 0, at_ = 0;  ///< where to go on
};

/// Memory in bytes that this process may still take without pushing others out: what the system reports as
/// available, or what its control group leaves if that is less. 0 if the system does not say.
size_t available_memory();

}  // namespace minfer
