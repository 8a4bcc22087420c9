#include "cli/history_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"
#include "cli/text_input.h"

namespace minfer::cli {
namespace {

/// A new file beside its target, gone again unless it takes the target's place.
class Replacement {
 public:
  explicit Replacement(const std::string& target)
      : target_(target), path_(fmt::format("{}.{}", target, ::getpid())) {
    // What was talked about is the owner's business.
    file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file_ < 0) fail();
  }
  ~Replacement() {
    if (file_ >= 0) ::close(file_);
    if (!done_) ::unlink(path_.c_str());
  }
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;

  void write(std::string_view text) {
    while (!text.empty()) {
      const ssize_t written = ::write(file_, text.data(), text.size());
      if (written < 0 && errno != EINTR) fail();
      if (written > 0) text.remove_prefix(size_t(written));
    }
  }
  void finish() {
    if (::fsync(file_) != 0 || ::rename(path_.c_str(), target_.c_str()) != 0) fail();
    done_ = true;
  }

 private:
  [[noreturn]] void fail() const {
    const std::string why = std::strerror(errno);
    if (file_ < 0 || !done_) ::unlink(path_.c_str());
    throw Error(ErrorCode::io, fmt::format("{}: cannot be written: {}", target_, why));
  }
  const std::string target_, path_;
  int file_ = -1;
  bool done_ = false;
};

}  // namespace

void load_history(Conversation& conversation, const std::string& path) {
  conversation.set_messages(parse_json(read_text_file(path), path));
}

void save_history(const Conversation& conversation, const std::string& path) {
  std::error_code ignored;  // a link stays one: what it leads to is replaced
  const std::filesystem::path real = std::filesystem::canonical(path, ignored);
  Replacement file(real.empty() ? path : real.string());
  file.write(conversation.messages().dump(1) + "\n");
  file.finish();
}

}  // namespace minfer::cli
