#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace minfer::download {

struct CachedFile {
  std::string name;
  uint64_t size = 0;
  std::string sha256;  ///< as computed when it was fetched
  std::string etag;    ///< strong, else empty
};

/// A model that is whole in the cache.
struct CachedModel {
  std::string name;     ///< its first file's name without .gguf and part numbers
  std::string source;   ///< full name of where it came from; empty for a file that lies in models/ itself
  std::string fetched;  ///< UTC, "2026-11-30T10:12:00Z"
  std::vector<CachedFile> files;
  std::filesystem::path folder;  ///< of the files

  std::filesystem::path path() const { return folder / files[0].name; }
  uint64_t bytes() const;
};

/// A model whose fetching was broken off.
struct UnfinishedModel {
  std::string source;
  uint64_t bytes = 0, total = 0;  ///< total 0: not known
};

/// The folder of models.
///
///     models/NAME.gguf                a model in one file without a record: the default model, or the user's
///     own models/KEY/model.json           the record of a fetched model; what has no record does not exist
///     models/KEY/VERSION/FILE.gguf    its files
///     partial/KEY/                    what has been fetched of a model so far
///     locks/KEY.lock                  held while a model is fetched or removed
///
/// KEY is made from the full name, VERSION from names, sizes and hashes of the files. A new version is
/// complete in its folder before the record names it, so a process sees the old model or the new one at any
/// moment.
class Cache {
 public:
  explicit Cache(std::filesystem::path folder) : folder_(std::move(folder)) {}
  const std::filesystem::path& folder() const { return folder_; }

  /// Sorted by name. Records that cannot be read, or whose files are not there, are left out with a warning.
  std::vector<CachedModel> models() const;
  std::vector<UnfinishedModel> unfinished() const;
  std::optional<CachedModel> by_source(const std::string& source) const;

  /// The model that `text` means: a name, a full name, or hf:OWNER/REPO[:FILE] with FILE as `pull` takes it.
  /// Nothing if there is none. Throws Error{bad_request} with the full names if there are several. Only
  /// compares `text` with what is in the cache; never makes a path of it.
  std::optional<CachedModel> find(const std::string& text) const;

  std::filesystem::path partial_folder(const std::string& source) const;
  std::filesystem::path lock_path(const std::string& source) const;
  /// Moves the files of a partial folder into place and records them. The caller holds the lock.
  CachedModel install(const std::string& source, const std::vector<CachedFile>& files);
  /// The record first, then the files. The caller holds the lock, if the model has a source.
  void remove(const CachedModel& model);
  /// What has been fetched of a model so far.
  void remove_partial(const std::string& source);

 private:
  std::filesystem::path model_folder(const std::string& source) const;
  std::optional<CachedModel> read_record(const std::filesystem::path& path) const;

  std::filesystem::path folder_;
};

}  // namespace minfer::download
