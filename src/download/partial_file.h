#pragma once
#include <filesystem>

#include "download/files.h"
#include "download/remote.h"

namespace minfer::download {

/// A file that has arrived in part, with a record beside it (NAME.json): of which content it is, and how many
/// of its bytes are certainly on the disk. Only those are built upon: a process that was killed, or a machine
/// that lost power, leaves at worst bytes that are fetched again.
class PartialFile {
 public:
  /// Opens what an earlier attempt left, if the record says that it is a part of the same content: same
  /// SHA-256 and size, or, where the source gives no SHA-256, an ETag to ask the server about. Else begins
  /// anew, and says so if something was there.
  PartialFile(const std::filesystem::path& folder, const RemoteFile& file);

  const std::filesystem::path& path() const { return data_.path(); }
  uint64_t bytes() const { return bytes_; }
  /// What If-Range needs: the server's strong ETag, else empty.
  const std::string& etag() const { return etag_; }
  const std::optional<uint64_t>& size() const { return size_; }

  /// Drops what is there.
  void restart();
  /// What the server said about the content that is about to be appended.
  void describe(std::optional<uint64_t> size, std::string etag);
  /// Appends, and makes a checkpoint now and then.
  void append(std::span<const std::byte> bytes);
  /// Everything appended so far to the disk, then the record of it.
  void checkpoint();
  /// Removes the file and its record.
  void discard();

 private:
  std::filesystem::path record_;
  std::string sha256_, etag_;
  std::optional<uint64_t> size_;
  Descriptor data_;
  uint64_t bytes_ = 0, recorded_ = 0;
};

}  // namespace minfer::download
