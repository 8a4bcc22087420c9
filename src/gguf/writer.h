#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gguf/gguf.h"

namespace minfer::gguf {

/// Builds a GGUF version 3 file, in memory or on disk: for tests, and for tools that write models. Tensors
/// get the places that the format asks for; `general.alignment` is written if the alignment is not the
/// default.
class Writer {
 public:
  explicit Writer(uint32_t alignment = 32);

  // Metadata, in call order. Setting a key twice is a MINFER_CHECK.
  void set(std::string_view key, std::string_view value);
  void set(std::string_view key, const char* value) { set(key, std::string_view(value)); }
  void set(std::string_view key, bool value) { put_scalar(key, ValueType::boolean, uint8_t(value)); }
  void set(std::string_view key, uint8_t value) { put_scalar(key, ValueType::u8, value); }
  void set(std::string_view key, int8_t value) { put_scalar(key, ValueType::i8, value); }
  void set(std::string_view key, uint16_t value) { put_scalar(key, ValueType::u16, value); }
  void set(std::string_view key, int16_t value) { put_scalar(key, ValueType::i16, value); }
  void set(std::string_view key, uint32_t value) { put_scalar(key, ValueType::u32, value); }
  void set(std::string_view key, int32_t value) { put_scalar(key, ValueType::i32, value); }
  void set(std::string_view key, uint64_t value) { put_scalar(key, ValueType::u64, value); }
  void set(std::string_view key, int64_t value) { put_scalar(key, ValueType::i64, value); }
  void set(std::string_view key, float value) { put_scalar(key, ValueType::f32, value); }
  void set(std::string_view key, double value) { put_scalar(key, ValueType::f64, value); }
  void set(std::string_view key, const std::vector<std::string>& values);
  void set(std::string_view key, const std::vector<float>& values);
  void set(std::string_view key, const std::vector<int32_t>& values);
  /// Any value as another file holds it.
  void set(std::string_view key, const Value& value);

  /// `data` is copied; its size must be what the type and the shape ask for.
  void add_tensor(std::string_view name, DType type, std::vector<int64_t> shape,
                  std::span<const std::byte> data);

  /// Makes a stretch of a tensor's data when it is written: whole blocks, the first of them number
  /// `first_block` of the tensor. Called for one stretch after the other.
  using Source = std::function<void(uint64_t first_block, std::span<std::byte> out)>;
  /// A tensor that never is in memory as a whole.
  void add_tensor(std::string_view name, DType type, std::vector<int64_t> shape, Source source);

  /// The whole file.
  std::vector<std::byte> bytes() const;
  /// Writes the whole file. Throws Error{io} naming the path.
  void write(const std::string& path) const;

  /// Writes PREFIX-00001-of-0000N.gguf and so on; part i holds the next `counts[i]` tensors, the first also
  /// all metadata. The counts must add up. Returns the paths. Throws Error{io}.
  std::vector<std::string> write_parts(const std::string& prefix, const std::vector<size_t>& counts) const;

 private:
  struct Tensor {
    std::string name;
    DType type;
    std::vector<int64_t> shape;
    size_t size;
    std::vector<std::byte> data;  ///< empty if `source` makes it
    Source source;
  };
  using Sink = std::function<void(std::span<const std::byte>)>;

  void put_key(std::string_view key, ValueType type);
  void put_array(std::string_view key, ValueType element, uint64_t count,
                 std::span<const std::byte> elements);
  template <class T>
  void put_scalar(std::string_view key, ValueType type, T value) {
    put_key(key, type);
    append(metadata_[std::string(key)], value);
  }
  template <class T>
  static void append(std::vector<std::byte>& out, T value) {
    for (std::byte b : std::as_bytes(std::span(&value, 1))) out.push_back(b);
  }
  static void append_string(std::vector<std::byte>& out, std::string_view text);
  std::vector<std::byte> head(const std::vector<std::string>& keys, std::span<const Tensor> tensors) const;
  void emit(const std::vector<std::string>& keys, std::span<const Tensor> tensors, const Sink& sink) const;

  uint32_t alignment_;
  std::vector<std::string> keys_;                           // in call order
  std::map<std::string, std::vector<std::byte>> metadata_;  // type and value as stored
  std::vector<Tensor> tensors_;
};

/// Writes `bytes` as the whole content of a file. Throws Error{io} naming the path.
void write_file(const std::string& path, std::span<const std::byte> bytes);

}  // namespace minfer::gguf
