#include "download/partial_file.h"

#include <fcntl.h>

#include "base/json.h"
#include "base/log.h"

namespace minfer::download {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// As much as a killed process may have to fetch again.
constexpr uint64_t checkpoint_every = 16 << 20;

/// What the record says; `bytes` is 0 if there is none that can be read.
struct Record {
  uint64_t bytes = 0;
  std::optional<uint64_t> size;
  std::string sha256, etag;
};

Record read_record(const fs::path& path) {
  const std::string text = read_small(path);
  if (text.empty()) return {};
  try {
    const Json json = parse_json(text, path.string());
    Record record{json.at("bytes").get<uint64_t>(), std::nullopt, json.at("sha256").get<std::string>(),
                  json.at("etag").get<std::string>()};
    if (!json.at("size").is_null()) record.size = json["size"].get<uint64_t>();
    return record;
  } catch (const std::exception&) {  // of another version, or damaged: nothing to build upon
    return {};
  }
}

bool same_content(const Record& record, const RemoteFile& file) {
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
  const Record record = read_record(record_);
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
  const Json json = {
      {"bytes", bytes_}, {"size", size_ ? Json(*size_) : Json()}, {"sha256", sha256_}, {"etag", etag_}};
  write_whole(record_, json.dump() + "\n");
  recorded_ = bytes_;
}

void PartialFile::discard() {
  std::error_code ignored;
  fs::remove(record_, ignored);  // first: data without a record counts as nothing
  fs::remove(data_.path(), ignored);
}

}  // namespace minfer::download
