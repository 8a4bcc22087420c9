#include "gguf/writer.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "base/error.h"
#include "gguf/part.h"
#include "gguf/split_name.h"

namespace minfer::gguf {

Writer::Writer(uint32_t alignment) : alignment_(alignment) {
  if (alignment != default_alignment) set("general.alignment", alignment);
}

void Writer::append_string(std::vector<std::byte>& out, std::string_view text) {
  append(out, uint64_t(text.size()));
  const auto raw = std::as_bytes(std::span(text));
  out.insert(out.end(), raw.begin(), raw.end());
}

void Writer::put_key(std::string_view key, ValueType type) {
  MINFER_CHECK(!metadata_.contains(std::string(key)), "every key is set once");
  keys_.emplace_back(key);
  append(metadata_[keys_.back()], uint32_t(type));
}

void Writer::put_array(std::string_view key, ValueType element, uint64_t count,
                       std::span<const std::byte> elements) {
  put_key(key, ValueType::array);
  std::vector<std::byte>& out = metadata_[keys_.back()];
  append(out, uint32_t(element));
  append(out, count);
  out.insert(out.end(), elements.begin(), elements.end());
}

void Writer::set(std::string_view key, std::string_view value) {
  put_key(key, ValueType::string);
  append_string(metadata_[keys_.back()], value);
}

void Writer::set(std::string_view key, const std::vector<std::string>& values) {
  std::vector<std::byte> elements;
  for (const std::string& value : values) append_string(elements, value);
  put_array(key, ValueType::string, values.size(), elements);
}

void Writer::set(std::string_view key, const std::vector<float>& values) {
  put_array(key, ValueType::f32, values.size(), std::as_bytes(std::span(values)));
}

void Writer::set(std::string_view key, const std::vector<int32_t>& values) {
  put_array(key, ValueType::i32, values.size(), std::as_bytes(std::span(values)));
}

void Writer::set(std::string_view key, const Value& value) {
  if (value.type == ValueType::array) return put_array(key, value.element_type, value.count, value.data);
  put_key(key, value.type);
  std::vector<std::byte>& out = metadata_[keys_.back()];
  if (value.type == ValueType::string) append(out, uint64_t(value.data.size()));
  out.insert(out.end(), value.data.begin(), value.data.end());
}

void Writer::add_tensor(std::string_view name, DType type, std::vector<int64_t> shape,
                        std::span<const std::byte> data) {
  Tensor tensor{std::string(name), type, std::move(shape), {data.begin(), data.end()}};
  int64_t elements = 1;
  for (int64_t n : tensor.shape) elements *= n;
  MINFER_CHECK(data.size() == row_bytes(type, elements),
               "a tensor's data has the size of its type and shape");
  tensors_.push_back(std::move(tensor));
}

std::vector<std::byte> Writer::assemble(const std::vector<std::string>& keys,
                                        std::span<const Tensor> tensors) const {
  std::vector<std::byte> out;
  const auto pad = [&] { out.resize((out.size() + alignment_ - 1) / alignment_ * alignment_); };
  for (char c : std::string_view("GGUF")) append(out, c);
  append(out, uint32_t(3));
  append(out, uint64_t(tensors.size()));
  append(out, uint64_t(keys.size()));
  for (const std::string& key : keys) {
    append_string(out, key);
    const auto& stored = metadata_.at(key);
    out.insert(out.end(), stored.begin(), stored.end());
  }
  uint64_t offset = 0;
  for (const Tensor& tensor : tensors) {
    append_string(out, tensor.name);
    append(out, uint32_t(tensor.shape.size()));
    for (int64_t n : tensor.shape) append(out, n);
    append(out, int32_t(info(tensor.type).gguf_id));
    append(out, offset);
    offset += (tensor.data.size() + alignment_ - 1) / alignment_ * alignment_;
  }
  pad();
  for (const Tensor& tensor : tensors) {
    out.insert(out.end(), tensor.data.begin(), tensor.data.end());
    pad();
  }
  return out;
}

std::vector<std::byte> Writer::bytes() const { return assemble(keys_, tensors_); }

std::vector<std::string> Writer::write_parts(const std::string& prefix,
                                             const std::vector<size_t>& counts) const {
  std::vector<std::string> paths;
  size_t first = 0;
  for (size_t part = 0; part < counts.size(); ++part) {
    MINFER_CHECK(counts[part] <= tensors_.size() - first, "the parts hold no more tensors than there are");
    // Each part carries its place; a copy without tensors keeps the alignment and, in the first part, all
    // keys.
    Writer keys(alignment_);
    if (part == 0) keys.keys_ = keys_, keys.metadata_ = metadata_;
    keys.set("split.no", uint16_t(part));
    keys.set("split.count", uint16_t(counts.size()));
    keys.set("split.tensors.count", int32_t(tensors_.size()));
    paths.push_back(SplitName{prefix, int(part) + 1, int(counts.size())}.path());
    write_file(paths.back(), keys.assemble(keys.keys_, std::span(tensors_).subspan(first, counts[part])));
    first += counts[part];
  }
  MINFER_CHECK(first == tensors_.size(), "the parts hold every tensor");
  return paths;
}

void write_file(const std::string& path, std::span<const std::byte> bytes) {
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "wb"), &std::fclose);
  const bool written = file && std::fwrite(bytes.data(), 1, bytes.size(), file.get()) == bytes.size();
  // Closing writes what is still buffered, so its result counts too.
  if (!written || std::fclose(file.release()) != 0)
    throw Error(ErrorCode::io, fmt::format("{}: cannot write: {}", path, std::strerror(errno)));
}

}  // namespace minfer::gguf
