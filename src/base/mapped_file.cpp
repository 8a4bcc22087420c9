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

/// Closes a descriptor on every path out of the constructor; a mapping outlives its descriptor.
struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

}  // namespace

MappedFile::MappedFile(const std::string& path) {
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.fd < 0)
    throw Error(ErrorCode::io, fmt::format("{}: cannot open: {}", path, std::strerror(errno)),
                "check the path and its permissions");
  struct stat status {};
  if (::fstat(file.fd, &status) != 0)
    throw Error(ErrorCode::io, fmt::format("{}: cannot read its size: {}", path, std::strerror(errno)));
  if (!S_ISREG(status.st_mode))
    throw Error(ErrorCode::io, fmt::format("{}: not a regular file", path), "give the path of a GGUF file");
  size_ = size_t(status.st_size);
  if (size_ == 0) return;  // an empty mapping is an error of mmap; an empty span says it all
  void* base = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.fd, 0);
  if (base == MAP_FAILED)
    throw Error(ErrorCode::io, fmt::format("{}: cannot map {} bytes: {}", path, size_, std::strerror(errno)));
  data_ = static_cast<const std::byte*>(base);
}

MappedFile::~MappedFile() {
  if (data_) ::munmap(const_cast<std::byte*>(data_), size_);
}

}  // namespace minfer
