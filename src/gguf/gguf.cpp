#include "gguf/gguf.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <unordered_map>

#include "base/error.h"
#include "base/mapped_file.h"
#include "gguf/parse.h"
#include "gguf/split.h"

namespace minfer::gguf {
namespace {

class ParsedFile final : public File {
 public:
  explicit ParsedFile(std::string path) : path_(std::move(path)) {}

  void add_part(std::span<const std::byte> bytes, const std::string& label,
                std::unique_ptr<MappedFile> mapping) {
    Contents contents = parse_contents(bytes, label);
    const int part = int(parts_.size());
    for (TensorInfo& tensor : contents.tensors) {
      tensor.part = part;
      tensors_.push_back(std::move(tensor));
    }
    if (part == 0) {
      version_ = contents.version;
      metadata_ = std::move(contents.metadata);
    } else {
      check_part_number(contents, label, part);
    }
    parts_.push_back(bytes);
    if (mapping) mappings_.push_back(std::move(mapping));
  }

  /// Call once, after the last part: the indexes hold views into names that must not move any more.
  void build_index() {
    for (const auto& [key, value] : metadata_) values_by_key_.emplace(key, &value);
    for (const TensorInfo& tensor : tensors_) {
      const auto [known, fresh] = tensors_by_name_.emplace(tensor.name, &tensor);
      if (!fresh)
        throw Error(ErrorCode::bad_model, fmt::format("{}: tensor `{}` stands in parts {} and {}", path_,
                                                      tensor.name, known->second->part + 1, tensor.part + 1));
    }
  }

  const std::string& path() const override { return path_; }
  uint32_t version() const override { return version_; }
  size_t file_bytes() const override {
    size_t sum = 0;
    for (const auto& part : parts_) sum += part.size();
    return sum;
  }
  int parts() const override { return int(parts_.size()); }
  std::span<const std::byte> part_bytes(int part) const override { return parts_[size_t(part)]; }
  const std::vector<std::pair<std::string, Value>>& metadata() const override { return metadata_; }
  const std::vector<TensorInfo>& tensors() const override { return tensors_; }
  const TensorInfo* find_tensor(std::string_view tensor_name) const override {
    const auto found = tensors_by_name_.find(tensor_name);
    return found == tensors_by_name_.end() ? nullptr : found->second;
  }
  const Value* find(std::string_view key) const override {
    const auto found = values_by_key_.find(key);
    return found == values_by_key_.end() ? nullptr : found->second;
  }

 private:
  static void check_part_number(const Contents& contents, const std::string& label, int part) {
    for (const auto& [key, value] : contents.metadata) {
      if (key != "split.no") continue;
      uint16_t number = 0;
      if (value.type == ValueType::u16) std::memcpy(&number, value.data.data(), sizeof number);
      if (value.type == ValueType::u16 && number == part) return;
      throw Error(ErrorCode::bad_model, fmt::format("{}: split.no is {}, expected {}", label, number, part),
                  "the parts belong to different models or were renamed");
    }
    throw Error(ErrorCode::bad_model, fmt::format("{}: split.no is missing, expected {}", label, part),
                "this file is no part of a split model");
  }

  std::string path_;
  uint32_t version_ = 0;
  std::vector<std::unique_ptr<MappedFile>> mappings_;
  std::vector<std::span<const std::byte>> parts_;
  std::vector<std::pair<std::string, Value>> metadata_;
  std::vector<TensorInfo> tensors_;
  std::unordered_map<std::string_view, const Value*> values_by_key_;
  std::unordered_map<std::string_view, const TensorInfo*> tensors_by_name_;
};

int64_t split_count(const File& file) { return file.get_int("split.count").value_or(1); }

[[noreturn]] void wrong_type(const File& file, std::string_view key, const Value& value,
                             std::string_view wanted) {
  const std::string found = value.type == ValueType::array
                                ? fmt::format("array of {}", name(value.element_type))
                                : std::string(name(value.type));
  throw Error(ErrorCode::bad_model,
              fmt::format("{}: key `{}` has type {}, expected {}", file.path(), key, found, wanted));
}

template <class T>
T load(const std::byte* p) {
  T value;
  std::memcpy(&value, p, sizeof value);
  return value;
}

/// An integer of any width, or nothing if the type is no integer or the value does not fit in i64.
std::optional<int64_t> integer_at(ValueType type, const std::byte* p) {
  switch (type) {
    case ValueType::u8:
      return load<uint8_t>(p);
    case ValueType::i8:
      return load<int8_t>(p);
    case ValueType::u16:
      return load<uint16_t>(p);
    case ValueType::i16:
      return load<int16_t>(p);
    case ValueType::u32:
      return load<uint32_t>(p);
    case ValueType::i32:
      return load<int32_t>(p);
    case ValueType::i64:
      return load<int64_t>(p);
    case ValueType::u64: {
      const uint64_t value = load<uint64_t>(p);
      if (value > uint64_t(INT64_MAX)) return std::nullopt;
      return int64_t(value);
    }
    default:
      return std::nullopt;
  }
}

std::optional<double> float_at(ValueType type, const std::byte* p) {
  if (type == ValueType::f32) return load<float>(p);
  if (type == ValueType::f64) return load<double>(p);
  if (const auto integer = integer_at(type, p)) return double(*integer);
  return std::nullopt;
}

size_t stride_of(const Value& value) { return value.count ? value.data.size() / value.count : 0; }

}  // namespace

int64_t TensorInfo::rows() const {
  int64_t product = 1;
  for (size_t d = 1; d < shape.size(); ++d) product *= shape[d];
  return product;
}

std::shared_ptr<const File> File::open(const std::string& path) {
  const auto split = parse_split_name(path);
  auto file = std::make_shared<ParsedFile>(path);
  const auto add = [&](const std::string& part_path) {
    auto mapping = std::make_unique<MappedFile>(part_path);
    const auto bytes = mapping->bytes();
    file->add_part(bytes, part_path, std::move(mapping));
  };
  if (split && split->part != 1)
    throw Error(ErrorCode::bad_model, fmt::format("{}: part {} of a split model", path, split->part),
                fmt::format("open the first part: {}", split->path_of(1)));
  add(path);
  // Only now are keys readable; the index is rebuilt once all parts are there.
  int64_t count = 1;
  for (const auto& [key, value] : file->metadata())
    if (key == "split.count") count = integer_at(value.type, value.data.data()).value_or(-1);
  if (count != (split ? split->parts : 1))
    throw Error(
        ErrorCode::bad_model,
        fmt::format("{}: split.count is {}, the file name says {}", path, count, split ? split->parts : 1),
        "keep the names PREFIX-00001-of-0000N.gguf that the parts were made with");
  for (int64_t part = 2; part <= count; ++part) add(split->path_of(int(part)));
  file->build_index();
  return file;
}

std::shared_ptr<const File> File::parse(std::span<const std::byte> bytes, const std::string& label) {
  auto file = std::make_shared<ParsedFile>(label);
  file->add_part(bytes, label, nullptr);
  file->build_index();
  if (split_count(*file) != 1)
    throw Error(ErrorCode::bad_model,
                fmt::format("{}: one of several parts cannot be read from memory", label));
  return file;
}

std::optional<int64_t> File::get_int(std::string_view key) const {
  const Value* value = find(key);
  if (!value) return std::nullopt;
  const auto integer =
      value->type == ValueType::array ? std::nullopt : integer_at(value->type, value->data.data());
  if (!integer) wrong_type(*this, key, *value, "an integer that fits in i64");
  return integer;
}

std::optional<double> File::get_float(std::string_view key) const {
  const Value* value = find(key);
  if (!value) return std::nullopt;
  const bool scalar = value->type != ValueType::array && value->type != ValueType::string;
  const auto number = scalar ? float_at(value->type, value->data.data()) : std::nullopt;
  if (!number) wrong_type(*this, key, *value, "a number");
  return number;
}

std::optional<bool> File::get_bool(std::string_view key) const {
  const Value* value = find(key);
  if (!value) return std::nullopt;
  if (value->type != ValueType::boolean) wrong_type(*this, key, *value, "bool");
  return value->data[0] != std::byte{0};
}

std::optional<std::string_view> File::get_string(std::string_view key) const {
  const Value* value = find(key);
  if (!value) return std::nullopt;
  if (value->type != ValueType::string) wrong_type(*this, key, *value, "string");
  return std::string_view(reinterpret_cast<const char*>(value->data.data()), value->data.size());
}

std::optional<std::vector<std::string_view>> File::get_strings(std::string_view key) const {
  const Value* value = find(key);
  if (!value) return std::nullopt;
  if (value->type != ValueType::array || value->element_type != ValueType::string)
    wrong_type(*this, key, *value, "array of string");
  std::vector<std::string_view> strings;
  strings.reserve(size_t(value->count));
  const std::byte* p = value->data.data();
  for (uint64_t i = 0; i < value->count; ++i) {
    const auto length = load<uint64_t>(p);
    strings.emplace_back(reinterpret_cast<const char*>(p + 8), size_t(length));
    p += 8 + length;
  }
  return strings;
}

std::optional<std::vector<float>> File::get_floats(std::string_view key) const {
  const Value* value = find(key);
  if (!value) return std::nullopt;
  std::vector<float> numbers;
  const bool fits = value->type == ValueType::array && value->element_type != ValueType::string;
  const size_t stride = stride_of(*value);
  for (uint64_t i = 0; fits && i < value->count; ++i) {
    const auto number = float_at(value->element_type, value->data.data() + i * stride);
    if (!number) wrong_type(*this, key, *value, "array of numbers");
    numbers.push_back(float(*number));
  }
  if (!fits) wrong_type(*this, key, *value, "array of numbers");
  return numbers;
}

std::optional<std::vector<int64_t>> File::get_ints(std::string_view key) const {
  const Value* value = find(key);
  if (!value) return std::nullopt;
  std::vector<int64_t> numbers;
  const bool fits = value->type == ValueType::array && value->element_type != ValueType::string;
  const size_t stride = stride_of(*value);
  for (uint64_t i = 0; fits && i < value->count; ++i) {
    const auto number = integer_at(value->element_type, value->data.data() + i * stride);
    if (!number) wrong_type(*this, key, *value, "array of integers");
    numbers.push_back(*number);
  }
  if (!fits) wrong_type(*this, key, *value, "array of integers");
  return numbers;
}

}  // namespace minfer::gguf
