#include "gguf/parse.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <unordered_set>

#include "base/error.h"
#include "base/log.h"

namespace minfer::gguf {
namespace {

constexpr size_t max_name_bytes = 64;                      // a tensor name is shorter than this
constexpr uint64_t max_alignment = 1u << 20;               // far above any page size in use
constexpr uint64_t min_value_record = 8 + 4 + 1;           // key length, type, one byte of value
constexpr uint64_t min_tensor_record = 8 + 4 + 8 + 4 + 8;  // name length, n_dims, one extent, type, offset

/// File text in a message: printable ASCII stays, everything else is escaped, long text is cut.
std::string quoted(std::string_view text) {
  std::string out = "`";
  for (unsigned char c : text.substr(0, max_name_bytes)) {
    if (c >= 0x20 && c < 0x7f)
      out += char(c);
    else
      out += fmt::format("\\x{:02x}", c);
  }
  return out + (text.size() > max_name_bytes ? "...`" : "`");
}

size_t scalar_bytes(ValueType type) {
  switch (type) {
    case ValueType::u8:
    case ValueType::i8:
    case ValueType::boolean:
      return 1;
    case ValueType::u16:
    case ValueType::i16:
      return 2;
    case ValueType::u32:
    case ValueType::i32:
    case ValueType::f32:
      return 4;
    case ValueType::u64:
    case ValueType::i64:
    case ValueType::f64:
      return 8;
    case ValueType::string:
    case ValueType::array:
      return 0;
  }
  return 0;
}

/// Walks the bytes; every read says what it was for when the file ends too soon.
class Cursor {
 public:
  Cursor(std::span<const std::byte> bytes, const std::string& label) : bytes_(bytes), label_(label) {}

  [[noreturn]] void fail(const std::string& what,
                         std::string hint = "the file is damaged or not complete") const {
    throw Error(ErrorCode::bad_model, fmt::format("{}: {}", label_, what), std::move(hint));
  }

  std::span<const std::byte> take(uint64_t count, std::string_view what) {
    if (count > left())
      fail(fmt::format("{}: needs bytes {}..{}, file has {}", what, at_, saturating_end(count),
                       bytes_.size()));
    const auto part = bytes_.subspan(at_, size_t(count));
    at_ += size_t(count);
    return part;
  }

  template <class T>
  T number(std::string_view what) {
    T value;
    std::memcpy(&value, take(sizeof(T), what).data(), sizeof(T));
    return value;
  }

  std::string_view string(std::string_view what) {
    const auto part = take(number<uint64_t>(what), what);
    return {reinterpret_cast<const char*>(part.data()), part.size()};
  }

  size_t at() const { return at_; }
  size_t left() const { return bytes_.size() - at_; }

 private:
  uint64_t saturating_end(uint64_t count) const {
    return count > UINT64_MAX - at_ ? UINT64_MAX : at_ + count;
  }

  std::span<const std::byte> bytes_;
  const std::string& label_;
  size_t at_ = 0;
};

struct Header {
  uint32_t version;
  uint64_t tensors, values;
};

void check_magic(Cursor& in, std::span<const std::byte> bytes) {
  const std::string_view start(reinterpret_cast<const char*>(bytes.data()),
                               std::min<size_t>(bytes.size(), 5));
  if (bytes.empty()) in.fail("the file is empty", "download or copy the file again");
  if (start.substr(0, 4) != "GGUF")
    in.fail(fmt::format("not a GGUF file (starts with {})", quoted(start)), "give a file in the GGUF format");
}

Header read_header(Cursor& in, std::span<const std::byte> bytes) {
  check_magic(in, bytes);
  in.take(4, "magic");
  Header header{};
  header.version = in.number<uint32_t>("version");
  if ((header.version & 0xffffu) == 0 && header.version != 0)
    in.fail("big-endian GGUF: its numbers are byte-swapped", "convert it to little-endian");
  if (header.version != 2 && header.version != 3)
    in.fail(fmt::format("GGUF version {}, expected 2 or 3", header.version),
            "convert the model again with current tools");
  header.tensors = in.number<uint64_t>("number of tensors");
  header.values = in.number<uint64_t>("number of metadata values");
  if (header.values > in.left() / min_value_record)
    in.fail(fmt::format("{} metadata values cannot fit in a file of {} bytes", header.values, bytes.size()));
  if (header.tensors > in.left() / min_tensor_record)
    in.fail(fmt::format("{} tensors cannot fit in a file of {} bytes", header.tensors, bytes.size()));
  return header;
}

Value read_value(Cursor& in, ValueType type, const std::string& what) {
  Value value{type, type, 1, {}};
  if (type == ValueType::string) {
    const std::string_view text = in.string(what);
    value.data = std::as_bytes(std::span(text));
    return value;
  }
  if (type != ValueType::array) {
    value.data = in.take(scalar_bytes(type), what);
    if (type == ValueType::boolean && value.data[0] > std::byte{1})
      in.fail(fmt::format("{}: boolean is {}, expected 0 or 1", what, int(value.data[0])));
    return value;
  }
  const uint32_t element = in.number<uint32_t>(what);
  if (element > uint32_t(ValueType::f64))
    in.fail(fmt::format("{}: unknown array element type {}", what, element));
  value.element_type = ValueType(element);
  if (value.element_type == ValueType::array) in.fail(what + ": arrays of arrays are not supported");
  value.count = in.number<uint64_t>(what);
  const size_t bytes = scalar_bytes(value.element_type);
  const uint64_t least = bytes ? bytes : 8;  // an empty string still has its length
  if (value.count > in.left() / least)
    in.fail(fmt::format("{}: {} elements cannot fit in the {} bytes that are left", what, value.count,
                        in.left()));
  if (bytes) {
    value.data = in.take(value.count * bytes, what);
    return value;
  }
  Cursor start = in;
  for (uint64_t i = 0; i < value.count; ++i) in.string(what);
  value.data = start.take(in.at() - start.at(), what);
  return value;
}

void read_metadata(Cursor& in, uint64_t count, Contents& contents) {
  std::unordered_set<std::string_view> seen;
  for (uint64_t i = 0; i < count; ++i) {
    const std::string_view key = in.string(fmt::format("metadata key {}", i));
    const std::string what = fmt::format("key {}", quoted(key));
    if (!seen.insert(key).second) in.fail(what + " stands twice");
    const uint32_t type = in.number<uint32_t>(what);
    if (type > uint32_t(ValueType::f64)) in.fail(fmt::format("{}: unknown value type {}", what, type));
    contents.metadata.emplace_back(key, read_value(in, ValueType(type), what));
  }
}

uint64_t read_alignment(const Cursor& in, const Contents& contents) {
  for (const auto& [key, value] : contents.metadata) {
    if (key != "general.alignment") continue;
    if (value.type != ValueType::u32)
      in.fail(fmt::format("general.alignment has type {}, expected u32", name(value.type)));
    uint32_t alignment;
    std::memcpy(&alignment, value.data.data(), sizeof alignment);
    if (!std::has_single_bit(alignment) || alignment > max_alignment)
      in.fail(fmt::format("general.alignment is {}, expected a power of two from 1 to {}", alignment,
                          max_alignment));
    return alignment;
  }
  return 32;
}

/// The types this build decodes, for the message about one that it does not.
std::string supported_types() {
  std::string list;
  for (int id = 0; id < 64; ++id)
    if (const auto type = dtype_from_gguf(id))
      list += (list.empty() ? "" : " ") + std::string(info(*type).name);
  return list;
}

struct TensorRecord {
  TensorInfo info;
  uint64_t offset = 0, bytes = 0;
};

void check_type(const Cursor& in, const std::string& what, int32_t id, TensorInfo& tensor) {
  const auto type = dtype_from_gguf(id);
  if (!type) {
    const std::string_view known = gguf_type_name(id);
    in.fail(fmt::format("{}: type {}{} not supported", what, id,
                        known.empty() ? "" : fmt::format(" ({})", known)),
            fmt::format("use a file with tensors of these types: {}", supported_types()));
  }
  tensor.type = *type;
  const int64_t block = info(*type).block_elements;
  if (tensor.shape[0] % block != 0)
    in.fail(fmt::format("{}: rows of {} elements are no multiple of the {}-element blocks of {}", what,
                        tensor.shape[0], block, info(*type).name));
}

uint64_t tensor_bytes(const Cursor& in, const std::string& what, const TensorInfo& tensor) {
  int64_t elements = 1;
  for (int64_t extent : tensor.shape)
    if (__builtin_mul_overflow(elements, extent, &elements))
      in.fail(what + ": its number of elements overflows");
  const DTypeInfo& type = info(tensor.type);
  int64_t bytes;
  if (__builtin_mul_overflow(elements / type.block_elements, type.block_bytes, &bytes))
    in.fail(what + ": its size in bytes overflows");
  return uint64_t(bytes);
}

TensorRecord read_tensor(Cursor& in, uint64_t index) {
  TensorRecord record;
  const std::string_view tensor_name = in.string(fmt::format("name of tensor {}", index));
  const std::string what = fmt::format("tensor {}", quoted(tensor_name));
  if (tensor_name.size() >= max_name_bytes)
    in.fail(fmt::format("{}: its name has {} bytes, expected fewer than {}", what, tensor_name.size(),
                        max_name_bytes));
  record.info.name = tensor_name;
  const uint32_t dims = in.number<uint32_t>(what);
  if (dims > 4) in.fail(fmt::format("{}: {} dimensions, expected at most 4", what, dims));
  for (uint32_t d = 0; d < dims; ++d) {
    const int64_t extent = in.number<int64_t>(what);
    if (extent < 0) in.fail(fmt::format("{}: dimension {} is {}", what, d, extent));
    record.info.shape.push_back(extent);
  }
  if (dims == 0) record.info.shape.push_back(1);
  const int32_t type = in.number<int32_t>(what);
  record.offset = in.number<uint64_t>(what);
  check_type(in, what, type, record.info);
  record.bytes = tensor_bytes(in, what, record.info);
  return record;
}

/// Offsets are relative to the data section and must equal the padded running sum: no gap, no overlap.
void place_tensors(const Cursor& in, std::span<const std::byte> bytes, std::vector<TensorRecord>& records,
                   uint64_t alignment, const std::string& label) {
  const auto padded = [&](uint64_t n) { return (n + alignment - 1) / alignment * alignment; };
  const uint64_t data_start = padded(in.at());
  uint64_t expected = 0, end = in.at();
  for (TensorRecord& record : records) {
    const std::string what = fmt::format("tensor {}", quoted(record.info.name));
    if (record.offset != expected)
      in.fail(fmt::format(
          "{}: its data offset is {}, expected {} (tensors follow each other, aligned to {} bytes)", what,
          record.offset, expected, alignment));
    const uint64_t begin =
        data_start + record.offset;  // offset equals a sum of sizes that all lie in the file
    if (begin > bytes.size() || record.bytes > bytes.size() - begin)
      in.fail(
          fmt::format("{}: needs bytes {}..{}, file has {}", what, begin, begin + record.bytes, bytes.size()),
          "the file is not complete: download it again");
    record.info.data = bytes.subspan(size_t(begin), size_t(record.bytes));
    end = begin + record.bytes;
    expected = padded(record.offset + record.bytes);
  }
  if (bytes.size() > std::max(padded(end), data_start))
    log(LogLevel::warning, "{}: {} bytes after the last tensor are ignored", label,
        bytes.size() - std::max(padded(end), data_start));
}

}  // namespace

std::string_view name(ValueType type) {
  constexpr std::string_view names[] = {"u8",   "i8",     "u16",   "i16", "u32", "i32", "f32",
                                        "bool", "string", "array", "u64", "i64", "f64"};
  return names[size_t(type)];
}

Contents parse_contents(std::span<const std::byte> bytes, const std::string& label) {
  Cursor in(bytes, label);
  const Header header = read_header(in, bytes);
  Contents contents;
  contents.version = header.version;
  read_metadata(in, header.values, contents);
  const uint64_t alignment = read_alignment(in, contents);
  std::vector<TensorRecord> records;
  for (uint64_t i = 0; i < header.tensors; ++i) records.push_back(read_tensor(in, i));
  std::unordered_set<std::string_view> seen;
  for (const TensorRecord& record : records)
    if (!seen.insert(record.info.name).second)
      in.fail(fmt::format("tensor {} stands twice", quoted(record.info.name)));
  place_tensors(in, bytes, records, alignment, label);
  for (TensorRecord& record : records) contents.tensors.push_back(std::move(record.info));
  return contents;
}

}  // namespace minfer::gguf
