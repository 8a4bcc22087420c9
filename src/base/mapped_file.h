#pragma once
#include <cstddef>
#include <span>
#include <string>

namespace minfer {

/// A whole file mapped read-only and private, for as long as the object lives. The base is page-aligned. A
/// file that another process shortens while it is mapped ends this process on the next read: the system
/// offers no remedy.
class MappedFile {
 public:
  /// Throws Error{io} with the system's reason if the file cannot be opened, is no regular file or cannot be
  /// mapped.
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return {data_, size_}; }

 private:
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace minfer
