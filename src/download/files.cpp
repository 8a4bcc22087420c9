#include "download/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "base/log.h"

namespace minfer::download {

namespace fs = std::filesystem;

Error file_error(std::string_view doing, const fs::path& path) {
  return Error(ErrorCode::io, fmt::format("{} {}: {}", doing, path.string(), std::strerror(errno)),
               "MINFER_CACHE names another folder for models");
}

Descriptor::Descriptor(const fs::path& path, int flags)
    : path_(path), fd_(::open(path.c_str(), flags | O_CLOEXEC, 0644)) {
  if (fd_ < 0) throw file_error("opening", path);
}

Descriptor::~Descriptor() { ::close(fd_); }

void Descriptor::write_at(uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(fd_, bytes.data(), bytes.size(), off_t(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw file_error("writing", path_);
    bytes = bytes.subspan(size_t(written));
    offset += uint64_t(written);
  }
}

void Descriptor::truncate(uint64_t size) {
  if (::ftruncate(fd_, off_t(size)) != 0) throw file_error("writing", path_);
}

void Descriptor::sync() {
  if (::fsync(fd_) != 0) throw file_error("writing", path_);
}

void make_folder(const fs::path& folder) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  errno = failed.value();
  if (failed) throw file_error("making", folder);
}

void sync_folder(const fs::path& folder) { Descriptor(folder, O_RDONLY).sync(); }

void write_whole(const fs::path& path, std::string_view text) {
  const fs::path draft = path.string() + ".new";
  {
    Descriptor file(draft, O_WRONLY | O_CREAT | O_TRUNC);
    file.write_at(0, std::as_bytes(std::span(text)));
    file.sync();
  }
  move_to(draft, path);
  sync_folder(path.parent_path());
}

std::string read_small(const fs::path& path) {
  std::string text(1 << 20, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(text.data(), std::streamsize(text.size()));
  text.resize(size_t(file.gcount()));
  return file.eof() ? text : std::string();
}

void move_to(const fs::path& from, const fs::path& to) {
  std::error_code failed;
  fs::rename(from, to, failed);
  errno = failed.value();
  if (failed) throw file_error(fmt::format("moving {} to", from.string()), to);
}

void check_disk_space(const fs::path& folder, uint64_t needed, std::string_view what) {
  std::error_code unknown;
  const fs::space_info space = fs::space(folder, unknown);
  if (unknown || space.available >= needed) return;  // where it is unknown, writing will tell
  throw Error(
      ErrorCode::io,
      fmt::format("{} needs {} more in {}, which has {} left", what, size_text(needed), folder.string(),
                  size_text(space.available)),
      "free some space (`minfer list`, `minfer rm NAME`), or let MINFER_CACHE name a folder elsewhere");
}

FileLock::FileLock(const fs::path& path, std::string_view waiting_for) : file_(path, O_RDWR | O_CREAT) {
  if (::flock(file_.get(), LOCK_EX | LOCK_NB) == 0) return;
  log(LogLevel::info, "another process is fetching {}; waiting for it", waiting_for);
  while (::flock(file_.get(), LOCK_EX) != 0)
    if (errno != EINTR) throw file_error("locking", path);
}

std::string size_text(uint64_t bytes) {
  if (bytes < 1000) return fmt::format("{} bytes", bytes);
  constexpr const char* units[] = {"kB", "MB", "GB", "TB", "PB", "EB"};
  double value = double(bytes) / 1000;
  int unit = 0;
  while (value >= 999.5 && unit < 5) {
    value /= 1000;
    ++unit;
  }
  return value < 9.95 ? fmt::format("{:.1f} {}", value, units[unit])
                      : fmt::format("{:.0f} {}", value, units[unit]);
}

}  // namespace minfer::download
