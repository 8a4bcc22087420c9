#include "gguf/writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "base/error.h"
#include "gguf/part.h"
#include "gguf/split_name.h"

namespace minfer::gguf {
namespace {

class OutputFile {
 public:
  explicit OutputFile(const std::string& path)
      : path_(path), file_(std::fopen(path.c_str(), "wb"), &std::fclose) {
    if (!file_) fail();
  }
  void write(std::span<const std::byte> bytes) {
    if (bytes.empty()) return;  // of nothing, data() may be null, which fwrite does not take
    if (std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size()) fail();
  }
  /// Writes what is still buffered: the file is whole only if this returns.
  void close() {
    if (std::fclose(file_.release()) != 0) fail();
  }

 private:
  [[noreturn]] void fail() const {
    throw Error(ErrorCode::io, fmt::format("{}: cannot write: {}", path_, std::strerror(errno)));
  }

  std::string path_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
};

uint64_t padded(uint64_t size, uint64_t alignment) { return (size + alignment - 1) / alignment * alignment; }

}  // namespace

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
  add_tensor(name, type, std::move(shape), Source());
  MINFER_CHECK(data.size() == tensors_.back().size, "a tensor's data has the size of its type and shape");
  tensors_.back().data.assign(data.begin(), data.end());
}

void Writer::add_tensor(std::string_view name, DType type, std::vector<int64_t> shape, Source source) {
  int64_t elements = 1;
  for (int64_t n : shape) elements *= n;
  tensors_.push_back(
      {std::string(name), type, std::move(shape), row_bytes(type, elements), {}, std::move(source)});
}

/// All that stands before the data: header, metadata, tensor records and padding.
std::vector<std::byte> Writer::head(const std::vector<std::string>& keys,
                                    std::span<const Tensor> tensors) const {
  std::vector<std::byte> out;
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
    offset += padded(tensor.size, alignment_);
  }
  out.resize(padded(out.size(), alignment_));
  return out;
}

/// Gives `sink` the file piece by piece.
void Writer::emit(const std::vector<std::string>& keys, std::span<const Tensor> tensors,
                  const Sink& sink) const {
  sink(head(keys, tensors));
  std::vector<std::byte> stretch;
  for (const Tensor& tensor : tensors) {
    const uint64_t block = uint64_t(info(tensor.type).block_bytes), most = (1 << 20) / block;
    const uint64_t blocks = tensor.source ? tensor.size / block : 0;
    for (uint64_t first = 0; first < blocks; first += most) {
      stretch.resize(std::min(most, blocks - first) * block);
      tensor.source(first, stretch);
      sink(stretch);
    }
    sink(tensor.data);
    sink(std::vector<std::byte>(padded(tensor.size, alignment_) - tensor.size));
  }
}

std::vector<std::byte> Writer::bytes() const {
  std::vector<std::byte> out;
  emit(keys_, tensors_,
       [&](std::span<const std::byte> piece) { out.insert(out.end(), piece.begin(), piece.end()); });
  return out;
}

void Writer::write(const std::string& path) const {
  OutputFile file(path);
  emit(keys_, tensors_, [&](std::span<const std::byte> piece) { file.write(piece); });
  file.close();
}

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
    OutputFile file(paths.back());
    keys.emit(keys.keys_, std::span(tensors_).subspan(first, counts[part]),
              [&](std::span<const std::byte> piece) { file.write(piece); });
    file.close();
    first += counts[part];
  }
  MINFER_CHECK(first == tensors_.size(), "the parts hold every tensor");
  return paths;
}

void write_file(const std::string& path, std::span<const std::byte> bytes) {
  OutputFile file(path);
  file.write(bytes);
  file.close();
}

}  // namespace minfer::gguf
