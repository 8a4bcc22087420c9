#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace minfer::test {

/// A GGUF file put together field by field, so that a test can make any of them lie. Knows nothing of the
/// code under test.
class RawFile {
 public:
  enum Type : uint32_t { u8, i8, u16, i16, u32, i32, f32, boolean, string, array, u64, i64, f64 };

  explicit RawFile(uint64_t n_tensors, uint64_t n_keys, uint32_t version = 3) {
    text("GGUF").put(version).put(n_tensors).put(n_keys);
  }
  template <class T>
  RawFile& put(T value) {
    char raw[sizeof value];
    std::memcpy(raw, &value, sizeof value);
    return text({raw, sizeof raw});
  }
  RawFile& text(std::string_view s) {
    for (char c : s) bytes_.push_back(std::byte(c));
    return *this;
  }
  RawFile& str(std::string_view s) { return put(uint64_t(s.size())).text(s); }
  RawFile& key(std::string_view name, Type type) { return str(name).put(uint32_t(type)); }
  template <class T>
  RawFile& key(std::string_view name, Type type, T value) {
    return key(name, type).put(value);
  }
  RawFile& array_key(std::string_view name, Type element, uint64_t count) {
    return key(name, array).put(uint32_t(element)).put(count);
  }
  RawFile& tensor(std::string_view name, std::vector<int64_t> shape, int32_t type, uint64_t offset) {
    str(name).put(uint32_t(shape.size()));
    for (int64_t n : shape) put(n);
    return put(type).put(offset);
  }
  /// Zero bytes up to a multiple of `alignment`, then `size` bytes of data.
  RawFile& data(size_t size, size_t alignment = 32) {
    while (bytes_.size() % alignment) bytes_.push_back(std::byte(0));
    for (size_t i = 0; i < size; ++i) bytes_.push_back(std::byte(i % 63));
    return *this;
  }
  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace minfer::test
