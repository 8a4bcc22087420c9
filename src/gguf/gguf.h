#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "quant/dtype.h"

namespace minfer::gguf {

/// Metadata value types, numbered as in the file.
enum class ValueType : uint32_t { u8, i8, u16, i16, u32, i32, f32, boolean, string, array, u64, i64, f64 };
std::string_view name(ValueType type);

/// One metadata value: a view into the mapped file, decoded on request. Arrays keep their bytes; nothing is
/// copied.
struct Value {
  ValueType type;
  ValueType element_type;  ///< of an array
  uint64_t count = 1;      ///< elements of an array, else 1
  std::span<const std::byte>
      data;  ///< scalar bytes, string bytes (no length), or the array's elements as stored
};

/// A tensor's record. `shape[0]` is the fastest dimension.
struct TensorInfo {
  std::string name;
  DType type;
  std::vector<int64_t> shape;       ///< 1 to 4 dimensions
  std::span<const std::byte> data;  ///< view into the mapping of its part
  int part = 0;                     ///< which file of a multi-part model
  int64_t cols() const { return shape.empty() ? 1 : shape[0]; }
  int64_t rows() const;  ///< product of the other dimensions
};

/// An opened model: one file or all parts of a split one, memory-mapped and completely checked.
/// Everything it returns stays valid while the object lives.
class File {
 public:
  /// Throws Error{io} if a file cannot be opened, Error{bad_model} naming file, tensor or key, value found
  /// and value expected. Never allocates from an unchecked length. Opening a part other than the first is
  /// refused by name.
  static std::shared_ptr<const File> open(const std::string& path);

  /// The same checks on bytes in memory (fuzzing, tests); `label` stands for the file name. Single-part only.
  static std::shared_ptr<const File> parse(std::span<const std::byte> bytes, const std::string& label);

  virtual ~File() = default;
  virtual const std::string& path() const = 0;
  virtual uint32_t version() const = 0;
  virtual size_t file_bytes() const = 0;  ///< over all parts
  virtual int parts() const = 0;
  /// Whole mapping of one part: what a device wraps without copying. Page-aligned base.
  virtual std::span<const std::byte> part_bytes(int part) const = 0;
  virtual const std::vector<std::pair<std::string, Value>>& metadata() const = 0;  ///< file order
  virtual const std::vector<TensorInfo>& tensors() const = 0;              ///< file order, parts in order
  virtual const TensorInfo* find_tensor(std::string_view name) const = 0;  ///< null if absent
  virtual const Value* find(std::string_view key) const = 0;               ///< null if absent

  // Typed access. `get_*` returns nothing if the key is absent and throws Error{bad_model} naming the key and
  // both types if it has another type; integers accept every integer type whose value fits.
  std::optional<int64_t> get_int(std::string_view key) const;
  std::optional<double> get_float(std::string_view key) const;  ///< integer types are accepted too
  std::optional<bool> get_bool(std::string_view key) const;
  std::optional<std::string_view> get_string(std::string_view key) const;
  std::optional<std::vector<std::string_view>> get_strings(std::string_view key) const;
  std::optional<std::vector<float>> get_floats(std::string_view key) const;
  std::optional<std::vector<int64_t>> get_ints(std::string_view key) const;
};

}  // namespace minfer::gguf
