#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "download/cache.h"

namespace minfer::download {

// The small JSON files beside models and beside what has been fetched of them. Each is replaced in one step,
// see write_whole, and read with distrust: a record may be of another version, or damaged.

/// models/KEY/model.json.
struct ModelRecord {
  std::string source, fetched;
  std::vector<CachedFile> files;
};
/// Nothing if there is no such file, a record without files if it cannot be understood.
std::optional<ModelRecord> read_model_record(const std::filesystem::path& path);
void write_model_record(const std::filesystem::path& path, const ModelRecord& record);

/// partial/KEY/model.json.
struct UnfinishedRecord {
  std::string source;
  uint64_t total = 0;  ///< bytes of all files; 0: not known
};
/// Nothing if it is absent or cannot be understood: the next pull begins the model anew.
std::optional<UnfinishedRecord> read_unfinished_record(const std::filesystem::path& path);
void write_unfinished_record(const std::filesystem::path& path, const UnfinishedRecord& record);

/// partial/KEY/FILE.json: what is known of a file and how much of it is on the disk for certain.
struct PartialRecord {
  uint64_t bytes = 0;
  std::optional<uint64_t> size;
  std::string sha256, etag;
};
/// `bytes` is 0 if there is no record that can be understood: nothing to build upon.
PartialRecord read_partial_record(const std::filesystem::path& path);
void write_partial_record(const std::filesystem::path& path, const PartialRecord& record);

}  // namespace minfer::download
