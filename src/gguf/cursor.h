#pragma once
#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/error.h"
#include "gguf/printable.h"

namespace minfer::gguf {

static_assert(std::endian::native == std::endian::little, "GGUF numbers are read as they lie in the file");

/// Reads a file front to back. Every read is checked against the end of the bytes, so a length that the file
/// claims is believed only after the bytes behind it were seen. Errors name the file and the record being
/// read.
class Cursor {
 public:
  Cursor(std::span<const std::byte> bytes, std::string_view label) : bytes_(bytes), label_(label) {}

  /// What is read next, for errors: "key 'general.name'".
  void set_subject(std::string subject) { subject_ = std::move(subject); }

  uint64_t position() const { return position_; }
  uint64_t remaining() const { return bytes_.size() - position_; }

  std::span<const std::byte> take(uint64_t size, std::string_view what) {
    if (size > remaining()) fail_short(size, what);
    const auto taken = bytes_.subspan(position_, size);
    position_ += size;
    return taken;
  }

  template <class T>
  T read(std::string_view what) {
    static_assert(std::is_arithmetic_v<T>);
    T value;
    std::memcpy(&value, take(sizeof value, what).data(), sizeof value);
    return value;
  }

  /// A length (u64) and that many bytes.
  std::span<const std::byte> take_string(std::string_view what) { return take(read<uint64_t>(what), what); }

  /// `count` strings, lengths included. A loop of its own: vocabularies are most of what is read at the
  /// start.
  std::span<const std::byte> take_strings(uint64_t count, std::string_view what) {
    const uint64_t start = position_;
    for (uint64_t i = 0; i < count; ++i) {
      uint64_t length;
      if (remaining() < sizeof length) fail_short(sizeof length, what);
      std::memcpy(&length, bytes_.data() + position_, sizeof length);
      position_ += sizeof length;
      if (length > remaining()) fail_short(length, what);
      position_ += length;
    }
    return bytes_.subspan(start, position_ - start);
  }

  /// An error about the current subject.
  template <class... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) const {
    throw Error(ErrorCode::bad_model, fmt::format("{}: {}: {}", label_, subject_,
                                                  fmt::format(format, std::forward<Args>(args)...)));
  }

 private:
  [[noreturn]] void fail_short(uint64_t size, std::string_view what) const {
    throw Error(ErrorCode::bad_model,
                fmt::format("{}: {}: {} needs {} bytes at byte {}, file has {}", label_, subject_, what, size,
                            position_, bytes_.size()),
                "the file ends early or a length in it is wrong; compare its size with the source");
  }

  std::span<const std::byte> bytes_;
  std::string_view label_;
  std::string subject_ = "header";
  uint64_t position_ = 0;
};

inline std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace minfer::gguf
