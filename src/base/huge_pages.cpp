#include "base/huge_pages.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace minfer {

#ifdef __linux__
namespace {

constexpr size_t page = HugePageMover::page;

/// The file's first word after `key` (its first word if `key` is empty), or nothing.
std::string word_after(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  std::string word;
  while (file >> word) {
    if (key.empty()) return word;
    if (word == key && file >> word) return word;
  }
  return {};
}

/// A plain number of bytes; none for "max" and for what is missing.
size_t number(const std::string& text) {
  const bool digits = !text.empty() && text.size() < 20 && text.find_first_not_of("0123456789") == text.npos;
  return digits ? size_t(std::stoull(text)) : 0;
}

bool system_offers_pages() {
  std::ifstream file("/sys/kernel/mm/transparent_hugepage/enabled");
  std::string line;
  std::getline(file, line);
  return line.find("[always]") != line.npos || line.find("[madvise]") != line.npos;
}

/// Copies [from, from + bytes) to large pages and puts these in its place. Whoever reads meanwhile finds the
/// one or the other: the kernel holds up page faults in the range while it exchanges them. What has been
/// copied is given back at once, so that one page at most is resident twice; reading it again would find it
/// in the file.
bool move_piece(const std::byte* from, size_t bytes) {
  const size_t reserved = bytes + page;
  void* const memory = mmap(nullptr, reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  auto* const begin = static_cast<std::byte*>(memory);
  std::byte* const copy = begin + (page - reinterpret_cast<uintptr_t>(begin) % page) % page;
  madvise(copy, bytes, MADV_HUGEPAGE);
  for (size_t at = 0; at < bytes; at += page) {
    std::memcpy(copy + at, from + at, page);
    madvise(const_cast<std::byte*>(from + at), page, MADV_DONTNEED);
  }
  const bool moved =
      mprotect(copy, bytes, PROT_READ) == 0 &&
      mremap(copy, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, const_cast<std::byte*>(from)) != MAP_FAILED;
  if (!moved) {
    munmap(memory, reserved);
    return false;
  }
  if (copy != begin) munmap(begin, size_t(copy - begin));
  munmap(copy + bytes, size_t(begin + reserved - (copy + bytes)));
  return true;
}

}  // namespace

HugePageMover::HugePageMover(std::vector<std::span<const std::byte>> mappings) {
  if (!system_offers_pages()) return;
  for (const auto& mapping : mappings) {
    const size_t lead = (page - reinterpret_cast<uintptr_t>(mapping.data()) % page) % page;
    if (mapping.size() < lead + page) continue;
    ranges_.push_back(mapping.subspan(lead, (mapping.size() - lead) / page * page));
    bytes_ += ranges_.back().size();
  }
}

bool HugePageMover::step(size_t most) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return true;
  if (range_ == ranges_.size()) return false;
  const std::span<const std::byte> range = ranges_[range_];
  const size_t bytes = std::min(std::max(most / page * page, page), range.size() - at_);
  if (!move_piece(range.data() + at_, bytes)) {
    range_ = ranges_.size();
    return false;
  }
  at_ += bytes;
  if (at_ == range.size()) {
    ++range_;
    at_ = 0;
  }
  return range_ < ranges_.size();
}

size_t available_memory() {
  const size_t system = 1024 * number(word_after("/proc/meminfo", "MemAvailable:"));
  const std::string group = word_after("/proc/self/cgroup", {});  // "0::/path" where groups are unified
  if (group.compare(0, 3, "0::") != 0) return system;
  const std::string folder = "/sys/fs/cgroup" + group.substr(3) + "/";
  const size_t most = number(word_after(folder + "memory.max", {}));
  const size_t used = number(word_after(folder + "memory.current", {}));
  // What a file occupies in the page cache counts as used, but gives way.
  const size_t cached = number(word_after(folder + "memory.stat", "inactive_file"));
  if (most == 0) return system;
  const size_t taken = used - std::min(used, cached);
  return std::min(system, most - std::min(most, taken));
}

#else

HugePageMover::HugePageMover(std::vector<std::span<const std::byte>>) {}
bool HugePageMover::step(size_t) { return false; }
size_t available_memory() { return 0; }

#endif

}  // namespace minfer
