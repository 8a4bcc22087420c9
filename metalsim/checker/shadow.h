/// Histories of memory, by granules of 1 to 16 bytes. Pages are made when first touched, at the size of that
/// access, and refined when a smaller one comes, so bytes are exact and float4 arrays stay cheap.
#pragma once
#include <atomic>
#include <cstddef>
#include <memory>

#include "access_record.h"

namespace metalsim {

class Shadow {
 public:
  static constexpr uint32_t page_bytes = 256;

  explicit Shadow(size_t bytes);
  ~Shadow();

  /// Calls visit(cell, offset, bytes) for each granule of [offset, offset + bytes), under the page's lock if
  /// `shared` (several cores run). `visit` returns false to stop. Offsets are granule beginnings.
  template <class Visit>
  bool visit(size_t offset, size_t bytes, bool shared, Visit&& visit) {
    while (bytes) {
      const size_t page = offset / page_bytes, begin = offset % page_bytes;
      const size_t part = bytes < page_bytes - begin ? bytes : page_bytes - begin;
      PageLock lock(page, shared);
      Page& p = page_for(page, begin, part);
      const size_t step = size_t(1) << p.shift;
      for (size_t at = begin; at < begin + part; at += step)
        if (!visit(p.cells[at >> p.shift], page * page_bytes + at, step)) return false;
      offset += part;
      bytes -= part;
    }
    return true;
  }

  /// The history of one byte as it is, or null if nothing near it was touched.
  const Cell* find(size_t offset) const;

  void clear();

 private:
  struct Page {
    uint32_t shift;
    std::unique_ptr<Cell[]> cells;
  };

  class PageLock {
   public:
    PageLock(size_t page, bool shared) : flag_(shared ? &flag_of(page) : nullptr) {
      if (!flag_) return;
      while (flag_->test_and_set(std::memory_order_acquire)) {
      }
    }
    ~PageLock() {
      if (flag_) flag_->clear(std::memory_order_release);
    }
    PageLock(const PageLock&) = delete;

   private:
    std::atomic_flag* flag_;
  };

  static std::atomic_flag& flag_of(size_t page);

  Page& page_for(size_t page, size_t begin, size_t bytes) {
    Page* p = pages_[page];
    if (__builtin_expect(p != nullptr, 1)) {
      const size_t mask = (size_t(1) << p->shift) - 1;
      if (__builtin_expect(((begin | bytes) & mask) == 0, 1)) return *p;
    }
    return make_or_refine(page, begin, bytes);
  }
  Page& make_or_refine(size_t page, size_t begin, size_t bytes);

  size_t count_;
  std::unique_ptr<Page*[]> pages_;
};

}  // namespace metalsim
