// Metadata values: decoding, and typed access by key.
#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "base/error.h"
#include "gguf/cursor.h"
#include "gguf/part.h"
#include "gguf/printable.h"
#include "gguf/scalar.h"

namespace minfer::gguf {
namespace {

template <class T>
T load(const std::byte* src) {
  T value;
  std::memcpy(&value, src, sizeof value);
  return value;
}

Scalar load_number(ValueType type, const std::byte* src) {
  switch (type) {
    case ValueType::u8:
      return uint64_t(load<uint8_t>(src));
    case ValueType::i8:
      return int64_t(load<int8_t>(src));
    case ValueType::u16:
      return uint64_t(load<uint16_t>(src));
    case ValueType::i16:
      return int64_t(load<int16_t>(src));
    case ValueType::u32:
      return uint64_t(load<uint32_t>(src));
    case ValueType::i32:
      return int64_t(load<int32_t>(src));
    case ValueType::u64:
      return load<uint64_t>(src);
    case ValueType::i64:
      return load<int64_t>(src);
    case ValueType::f32:
      return load<float>(src);
    case ValueType::f64:
      return load<double>(src);
    case ValueType::boolean:
      return load<uint8_t>(src) != 0;
    case ValueType::string:
    case ValueType::array:
      break;
  }
  check_failed("number type", "strings and arrays are read elsewhere", __FILE__, __LINE__);
}

std::optional<int64_t> to_int(const Scalar& scalar) {
  if (const auto* i = std::get_if<int64_t>(&scalar)) return *i;
  if (const auto* u = std::get_if<uint64_t>(&scalar); u && *u <= uint64_t(INT64_MAX)) return int64_t(*u);
  return std::nullopt;
}

std::optional<double> to_float(const Scalar& scalar) {
  if (const auto* f = std::get_if<float>(&scalar)) return *f;
  if (const auto* d = std::get_if<double>(&scalar)) return *d;
  if (const auto* i = std::get_if<int64_t>(&scalar)) return double(*i);
  if (const auto* u = std::get_if<uint64_t>(&scalar)) return double(*u);
  return std::nullopt;
}

std::string type_text(const Value& value) {
  if (value.type == ValueType::array) return fmt::format("array of {}", name(value.element_type));
  return std::string(name(value.type));
}

bool is_integer(ValueType type) {
  return type != ValueType::f32 && type != ValueType::f64 && type != ValueType::boolean &&
         type != ValueType::string && type != ValueType::array;
}

/// Decodes the value of `key`, or all elements of an array, through `convert`; its refusal is the type error.
struct Access {
  const File& file;
  std::string_view key;
  std::string_view expected;

  [[noreturn]] void fail(const Value& value) const {
    throw Error(ErrorCode::bad_model, fmt::format("{}: key '{}' is {}, expected {}", file.path(),
                                                  printable(key), type_text(value), expected));
  }
  [[noreturn]] void fail_range() const {
    throw Error(ErrorCode::bad_model,
                fmt::format("{}: key '{}' holds a value above 2^63 - 1", file.path(), printable(key)));
  }

  template <class T, class Convert>
  std::optional<T> one(Convert convert) const {
    const Value* value = file.find(key);
    if (!value) return std::nullopt;
    if (value->type == ValueType::array) fail(*value);
    const std::optional<T> result = convert(Elements(*value).next());
    if (!result && is_integer(value->type) && expected == "an integer") fail_range();
    if (!result) fail(*value);
    return result;
  }

  template <class T, class Convert>
  std::optional<std::vector<T>> many(Convert convert) const {
    const Value* value = file.find(key);
    if (!value) return std::nullopt;
    if (value->type != ValueType::array) fail(*value);
    std::vector<T> result;
    // Every element takes at least a byte of the file, so its size bounds this.
    result.reserve(value->count);
    for (Elements elements(*value); !elements.done();) {
      const auto converted = convert(elements.next());
      if (!converted && is_integer(value->element_type) && expected == "an array of integers") fail_range();
      if (!converted) fail(*value);
      result.push_back(T(*converted));
    }
    return result;
  }
};

template <class T>
std::optional<T> exactly(const Scalar& scalar) {
  const T* value = std::get_if<T>(&scalar);
  return value ? std::optional(*value) : std::nullopt;
}

}  // namespace

std::string_view name(ValueType type) {
  constexpr std::string_view names[] = {"u8",   "i8",     "u16",   "i16", "u32", "i32", "f32",
                                        "bool", "string", "array", "u64", "i64", "f64"};
  return names[size_t(type)];
}

size_t element_size(ValueType type) {
  constexpr size_t sizes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
  return sizes[size_t(type)];
}

Scalar Elements::next() {
  --left_;
  if (value_.type == ValueType::string) return as_text(value_.data);
  const std::byte* src = value_.data.data() + at_;
  if (value_.element_type == ValueType::string) {
    const auto length = load<uint64_t>(src);
    at_ += sizeof length + length;
    return as_text(value_.data.subspan(at_ - length, length));
  }
  at_ += element_size(value_.element_type);
  return load_number(value_.element_type, src);
}

std::optional<int64_t> File::get_int(std::string_view key) const {
  return Access{*this, key, "an integer"}.one<int64_t>(to_int);
}
std::optional<double> File::get_float(std::string_view key) const {
  return Access{*this, key, "a number"}.one<double>(to_float);
}
std::optional<bool> File::get_bool(std::string_view key) const {
  return Access{*this, key, "bool"}.one<bool>(exactly<bool>);
}
std::optional<std::string_view> File::get_string(std::string_view key) const {
  return Access{*this, key, "string"}.one<std::string_view>(exactly<std::string_view>);
}
std::optional<std::vector<std::string_view>> File::get_strings(std::string_view key) const {
  const Value* value = find(key);
  if (!value) return std::nullopt;
  const bool are_strings =
      value->type == ValueType::array && (value->element_type == ValueType::string || value->count == 0);
  if (!are_strings) Access{*this, key, "an array of strings"}.fail(*value);
  std::vector<std::string_view> strings;
  strings.reserve(value->count);  // each took eight bytes of the file at least
  // A loop of its own: vocabularies are most of what is read at the start.
  const std::byte* at = value->data.data();
  for (uint64_t i = 0; i < value->count; ++i) {
    const auto length = load<uint64_t>(at);
    at += sizeof length;
    strings.emplace_back(reinterpret_cast<const char*>(at), length);
    at += length;
  }
  return strings;
}
std::optional<std::vector<float>> File::get_floats(std::string_view key) const {
  return Access{*this, key, "an array of numbers"}.many<float>(to_float);
}
std::optional<std::vector<int64_t>> File::get_ints(std::string_view key) const {
  const Value* value = find(key);
  if (value && value->type == ValueType::array && value->element_type == ValueType::i32) {
    std::vector<int64_t> ints(value->count);  // the common case, without a decision for each
    for (size_t i = 0; i < ints.size(); ++i)
      ints[i] = load<int32_t>(value->data.data() + i * sizeof(int32_t));
    return ints;
  }
  return Access{*this, key, "an array of integers"}.many<int64_t>(to_int);
}

int64_t TensorInfo::rows() const {
  int64_t product = 1;
  for (size_t i = 1; i < shape.size(); ++i) product *= shape[i];
  return product;
}

}  // namespace minfer::gguf
