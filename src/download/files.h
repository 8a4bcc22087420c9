#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"

namespace minfer::download {

/// An Error{io} that says what was being done to `path` and, from errno, why it failed.
Error file_error(std::string_view doing, const std::filesystem::path& path);

/// An open file of ours; closed at the end.
class Descriptor {
 public:
  /// `flags` as open() takes them. Throws Error{io}.
  Descriptor(const std::filesystem::path& path, int flags);
  ~Descriptor();
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return fd_; }
  const std::filesystem::path& path() const { return path_; }
  /// All of it, at an offset. Throws Error{io}, e.g. when the disk is full.
  void write_at(uint64_t offset, std::span<const std::byte> bytes);
  void truncate(uint64_t size);
  /// Returns when the content is on the disk.
  void sync();

 private:
  std::filesystem::path path_;
  int fd_;
};

/// With all folders above it.
void make_folder(const std::filesystem::path& folder);
/// Makes a folder's entries (files made, renamed or removed in it) survive a power cut.
void sync_folder(const std::filesystem::path& folder);
/// Replaces a small file in one step: whoever reads it finds the old text or the new one, never a part.
void write_whole(const std::filesystem::path& path, std::string_view text);
/// A small file's text, empty if it is absent, unreadable or larger than 1 MiB.
std::string read_small(const std::filesystem::path& path);
/// rename(), atomic within a file system. Throws Error{io}.
void move_to(const std::filesystem::path& from, const std::filesystem::path& to);
/// Throws Error{io} with both numbers if the file system of `folder` has less than `needed` bytes left.
void check_disk_space(const std::filesystem::path& folder, uint64_t needed, std::string_view what);

/// Held by the one process that works on `path`'s subject. The system lets go of it when the process ends,
/// however it ends. The file itself stays: removing it would let two processes hold "the" lock.
class FileLock {
 public:
  /// Waits if another process holds it, and says so with `waiting_for`.
  FileLock(const std::filesystem::path& path, std::string_view waiting_for);

 private:
  Descriptor file_;
};

/// "98 MB", "4.1 GB": decimal units, as disks and download pages count.
std::string size_text(uint64_t bytes);

}  // namespace minfer::download
