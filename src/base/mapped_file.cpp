#include "base/mapped_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace minfer {
namespace {

struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

[[noreturn]] void fail(const std::string& path, const char* doing) {
  throw Error(ErrorCode::io, fmt::format("{}: cannot {}: {}", path, doing, std::strerror(errno)));
}

}  // namespace

size_t page_bytes() { return size_t(::sysconf(_SC_PAGESIZE)); }

MappedFile::MappedFile(const std::string& path) {
  // A pipe would block on opening without O_NONBLOCK; the check for a regular file below then names the
  // problem.
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.fd < 0) fail(path, "open");
  struct stat status;
  if (::fstat(file.fd, &status) != 0) fail(path, "read its size");
  if (!S_ISREG(status.st_mode))
    throw Error(ErrorCode::io, fmt::format("{}: is a {}, expected a file", path,
                                           S_ISDIR(status.st_mode) ? "folder" : "device"));
  const auto size = size_t(status.st_size);
  if (size == 0) return;
  void* base = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.fd, 0);
  if (base == MAP_FAILED) fail(path, "map it into memory");
  bytes_ = {static_cast<const std::byte*>(base), size};
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace minfer
