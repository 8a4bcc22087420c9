#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <utility>

namespace minfer {

/// Bytes of a page: every mapping begins at a multiple of it.
size_t page_bytes();

/// A whole regular file, mapped read-only and private from offset 0, so the base is page-aligned. The mapping
/// ends with the object. A file that another process shortens while it is mapped makes reads past its new end
/// fatal (SIGBUS): no check here can prevent that, so model files are to be replaced by renaming, never
/// rewritten in place.
class MappedFile {
 public:
  /// Throws Error{io} naming the path if it cannot be opened or is no regular file. An empty file gives no
  /// bytes.
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  MappedFile& operator=(MappedFile&&) = delete;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace minfer
