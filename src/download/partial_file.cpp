#include "download/partial_file.h"

#include <fcntl.h>

#include "base/log.h"
#include "download/records.h"

namespace minfer::download {
namespace {

namespace fs = std::filesystem;

/// As much as a killed process may have to fetch again.
constexpr uint64_t checkpoint_every = 16 << 20;

bool same_content(const PartialRecord& record, const RemoteFile& file) {
  if (file.size && record.size != file.size) return false;
  if (!file.sha256.empty()) return record.sha256 == file.sha256;
  return record.sha256.empty() && !record.etag.empty() && record.size.has_value();
}

}  // namespace

PartialFile::PartialFile(const fs::path& folder, const RemoteFile& file)
    : record_(folder / (file.name + ".json")),
      sha256_(file.sha256),
      size_(file.size),
      data_(folder / file.name, O_RDWR | O_CREAT) {
  const PartialRecord record = read_partial_record(record_);
  std::error_code unknown;
  const uintmax_t on_disk = fs::file_size(data_.path(), unknown);
  if (record.bytes > 0 && !unknown && on_disk >= record.bytes && same_content(record, file)) {
    bytes_ = recorded_ = record.bytes;
    etag_ = record.etag;
    size_ = record.size;
  } else if (record.bytes > 0) {
    log(LogLevel::info,
        "{}: what was fetched earlier belongs to other content than the server has now; starting over",
        file.name);
  }
  data_.truncate(bytes_);
}

void PartialFile::restart() {
  data_.truncate(0);
  bytes_ = 0;
  etag_.clear();
  checkpoint();
}

void PartialFile::describe(std::optional<uint64_t> size, std::string etag) {
  if (size) size_ = size;
  etag_ = std::move(etag);
}

void PartialFile::append(std::span<const std::byte> bytes) {
  data_.write_at(bytes_, bytes);
  bytes_ += bytes.size();
  if (bytes_ - recorded_ >= checkpoint_every) checkpoint();
}

void PartialFile::checkpoint() {
  data_.sync();
  write_partial_record(record_, {bytes_, size_, sha256_, etag_});
  recorded_ = bytes_;
}

void PartialFile::discard() {
  std::error_code ignored;
  fs::remove(record_, ignored);  // first: data without a record counts as nothing
  fs::remove(data_.path(), ignored);
}

}  // namespace minfer::download
