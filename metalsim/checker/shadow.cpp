#include "shadow.h"

#include <algorithm>

namespace metalsim {

Shadow::Shadow(size_t bytes)
    : count_((bytes + page_bytes - 1) / page_bytes), pages_(std::make_unique<Page*[]>(count_)) {}

Shadow::~Shadow() { clear(); }

void Shadow::clear() {
  for (size_t i = 0; i < count_; ++i) {
    delete pages_[i];
    pages_[i] = nullptr;
  }
}

std::atomic_flag& Shadow::flag_of(size_t page) {
  struct alignas(64) Padded {
    std::atomic_flag flag = ATOMIC_FLAG_INIT;
  };
  static Padded flags[256];
  return flags[page % 256].flag;
}

Shadow::Page& Shadow::make_or_refine(size_t page, size_t begin, size_t bytes) {
  constexpr uint32_t coarsest = 4;
  const uint32_t shift = std::min<uint32_t>(coarsest, uint32_t(__builtin_ctzll(begin | bytes | page_bytes)));
  Page* old = pages_[page];
  Page* made = new Page{shift, std::make_unique<Cell[]>(page_bytes >> shift)};
  if (old)
    for (size_t i = 0; i < page_bytes >> shift; ++i) made->cells[i] = old->cells[(i << shift) >> old->shift];
  pages_[page] = made;
  delete old;
  return *made;
}

const Cell* Shadow::find(size_t offset) const {
  const Page* page = offset / page_bytes < count_ ? pages_[offset / page_bytes] : nullptr;
  return page ? &page->cells[offset % page_bytes >> page->shift] : nullptr;
}

}  // namespace metalsim
