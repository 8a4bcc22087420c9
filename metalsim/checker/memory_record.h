/// Inside of Memory, for the checker's own files.
#pragma once
#include <atomic>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <string>

#include "memory.h"
#include "shadow.h"

namespace metalsim {

/// One bit a byte. Setting is safe from several cores.
class ByteSet {
 public:
  explicit ByteSet(size_t bytes)
      : words_((bytes + 63) / 64), bits_(static_cast<Word*>(std::calloc(words_ + 1, sizeof(Word)))) {
    if (!bits_) throw std::bad_alloc();
  }

  void add(size_t offset, size_t bytes) {
    for_words(offset, bytes, [&](std::atomic<uint64_t>& word, uint64_t mask) {
      if ((word.load(std::memory_order_relaxed) & mask) != mask)
        word.fetch_or(mask, std::memory_order_relaxed);
      return true;
    });
  }
  void remove(size_t offset, size_t bytes) {
    for_words(offset, bytes, [&](std::atomic<uint64_t>& word, uint64_t mask) {
      word.fetch_and(~mask, std::memory_order_relaxed);
      return true;
    });
  }
  bool has_all(size_t offset, size_t bytes) const {
    return for_words(offset, bytes, [&](const std::atomic<uint64_t>& word, uint64_t mask) {
      return (word.load(std::memory_order_relaxed) & mask) == mask;
    });
  }
  /// Number of bytes in the set; empties it.
  uint64_t take_count() {
    uint64_t count = 0;
    for (size_t i = 0; i < words_; ++i)
      if (bits_[i].load(std::memory_order_relaxed))
        count += uint64_t(__builtin_popcountll(bits_[i].exchange(0, std::memory_order_relaxed)));
    return count;
  }

 private:
  using Word = std::atomic<uint64_t>;
  struct Free {
    void operator()(Word* words) const { std::free(words); }
  };

  template <class Visit>
  bool for_words(size_t offset, size_t bytes, Visit&& visit) const {
    while (bytes) {
      const size_t bit = offset % 64, part = bytes < 64 - bit ? bytes : 64 - bit;
      const uint64_t mask = (part == 64 ? ~uint64_t(0) : (uint64_t(1) << part) - 1) << bit;
      if (!visit(bits_[offset / 64], mask)) return false;
      offset += part;
      bytes -= part;
    }
    return true;
  }

  size_t words_;
  std::unique_ptr<Word[], Free> bits_;  ///< from calloc: large sets take memory only where they are touched
};

struct NarrowedRange {
  size_t bytes;
  std::string label;
};

struct Memory {
  const unsigned char* base = nullptr;
  size_t bytes = 0;
  std::mutex mutex;  ///< for names, ranges and making of the parts below
  std::string label;
  std::map<size_t, NarrowedRange> ranges;  ///< by offset

  /// Histories; null until some kernel may write the buffer. Weights never have one.
  std::unique_ptr<Shadow> shadow;
  /// Bytes that have contents; null: all, and so with `all_written`.
  std::unique_ptr<ByteSet> written;
  std::atomic<bool> all_written{true};
  /// Accesses of dispatches before this number are ordered with all to come.
  uint32_t ordered_before = 0;

  /// Bytes touched by the dispatch in hand; null unless statistics are on.
  std::unique_ptr<ByteSet> read_now, written_now;

  /// Names `offset`: the narrowed range that holds it, or the buffer; `offset` becomes relative to it.
  std::string name_at(size_t& offset);
};

}  // namespace metalsim
