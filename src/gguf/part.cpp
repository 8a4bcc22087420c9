#include "gguf/part.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/log.h"
#include "gguf/cursor.h"
#include "gguf/name_index.h"
#include "gguf/printable.h"

namespace minfer::gguf {
namespace {

constexpr size_t max_dimensions = 4;
constexpr size_t max_tensor_name = 63;
constexpr size_t max_key = 65535;
// The format asks for a multiple of 8, and rows of floats rely on it. The upper bound is far above any page
// size; beyond it an alignment is an attempt to move the data section somewhere else.
constexpr int64_t min_alignment = 8, max_alignment = 1 << 20;

/// What a file that is no GGUF file might be, by its first bytes.
std::string_view foreign_file_hint(std::string_view start) {
  constexpr std::pair<std::string_view, std::string_view> known[] = {
      {"<", "this is a web page or XML: download the model file itself, not the page about it"},
      {"version https://git-lfs", "this is a Git LFS pointer: fetch the real file with `git lfs pull`"},
      {"PK", "this is a ZIP archive or a PyTorch checkpoint: convert it to GGUF"},
      {"ggjt", "this is the format before GGUF: convert the model again"},
      {"tjgg", "this is the format before GGUF: convert the model again"},
      {"lmgg", "this is the format before GGUF: convert the model again"},
  };
  for (const auto& [prefix, hint] : known)
    if (start.substr(0, prefix.size()) == prefix) return hint;
  return "give the path of a .gguf file";
}

struct Header {
  uint32_t version;
  uint64_t n_tensors, n_keys;
};

Header read_header(Cursor& in, std::span<const std::byte> bytes, const std::string& label) {
  const std::string_view text = as_text(bytes);
  if (text.empty()) throw Error(ErrorCode::bad_model, fmt::format("{}: not a GGUF file: it is empty", label));
  if (text.substr(0, 4) != std::string_view("GGUF").substr(0, text.size()))
    throw Error(ErrorCode::bad_model,
                fmt::format("{}: not a GGUF file (starts with `{}`)", label, printable(text.substr(0, 16))),
                std::string(foreign_file_hint(text)));
  in.take(4, "magic");
  Header header{};
  header.version = in.read<uint32_t>("version");
  if (header.version != 0 && (header.version & 0xffffu) == 0)
    throw Error(ErrorCode::bad_model,
                fmt::format("{}: big-endian GGUF (version reads as {:#x}), expected little-endian", label,
                            header.version),
                "convert the model again for a little-endian machine");
  if (header.version != 2 && header.version != 3)
    in.fail("GGUF version is {}, expected 2 or 3", header.version);
  header.n_tensors = in.read<uint64_t>("tensor count");
  header.n_keys = in.read<uint64_t>("key count");
  // Every record takes more than a byte; which of them the file lacks is found on reading them.
  if (header.n_tensors > bytes.size())
    in.fail("{} tensors do not fit a file of {} bytes", header.n_tensors, bytes.size());
  if (header.n_keys > bytes.size())
    in.fail("{} metadata keys do not fit a file of {} bytes", header.n_keys, bytes.size());
  return header;
}

ValueType read_type(Cursor& in, std::string_view what) {
  const auto number = in.read<uint32_t>(what);
  if (number > uint32_t(ValueType::f64)) in.fail("{} is {}, expected 0 to 12", what, number);
  return ValueType(number);
}

/// The array's elements as stored. Strings are walked, so that every length in them is known to hold.
void read_array(Cursor& in, std::span<const std::byte> bytes, Value& value) {
  value.element_type = read_type(in, "element type");
  if (value.element_type == ValueType::array) in.fail("array of arrays, expected an array of plain values");
  value.count = in.read<uint64_t>("array length");
  if (const size_t size = element_size(value.element_type)) {
    if (value.count > in.remaining() / size)
      in.fail("array of {} {} elements at byte {} does not fit a file of {} bytes", value.count,
              name(value.element_type), in.position(), bytes.size());
    value.data = in.take(value.count * size, "array");
    return;
  }
  value.data = in.take_strings(value.count, "array element");
}

Value read_value(Cursor& in, std::span<const std::byte> bytes) {
  Value value{};
  value.type = value.element_type = read_type(in, "value type");
  value.count = 1;
  if (value.type == ValueType::array) {
    read_array(in, bytes, value);
  } else if (value.type == ValueType::string) {
    value.data = in.take_string("value");
  } else {
    value.data = in.take(element_size(value.type), "value");
  }
  return value;
}

Metadata read_metadata(Cursor& in, std::span<const std::byte> bytes, uint64_t count) {
  Metadata metadata;
  for (uint64_t i = 0; i < count; ++i) {
    in.set_subject(fmt::format("key {} of {}", i + 1, count));
    const std::string_view key = as_text(in.take_string("name"));
    if (key.empty() || key.size() > max_key)
      in.fail("its name has {} bytes, expected 1 to {}", key.size(), max_key);
    in.set_subject(fmt::format("key '{}'", printable(key)));
    metadata.emplace_back(key, read_value(in, bytes));
  }
  const NameIndex index(metadata, [](const auto& entry) -> std::string_view { return entry.first; });
  if (const auto twice = index.duplicate()) {
    in.set_subject(fmt::format("key '{}'", printable(metadata[twice->first].first)));
    in.fail("appears twice, as key {} and {} of {}", twice->first + 1, twice->second + 1, count);
  }
  return metadata;
}

std::string supported_types() {
  std::vector<std::string_view> names;
  for (size_t i = 0; i < size_t(DType::i32); ++i) names.push_back(info(DType(i)).name);
  return fmt::format("{}", fmt::join(names, ", "));
}

[[noreturn]] void fail_unsupported_type(const std::string& label, std::string_view tensor, int32_t id) {
  const std::string_view known = gguf_type_name(id);
  const bool removed = id == 4 || id == 5 || (id >= 31 && id <= 33) || (id >= 36 && id <= 38);
  throw Error(ErrorCode::unsupported,
              fmt::format("{}: tensor '{}': type {} ({}) not supported, expected one of {}", label,
                          printable(tensor), id, known.empty() ? "unknown" : known, supported_types()),
              removed ? "the format has dropped this type: get a newer conversion of the model"
                      : "get the model in a supported type, for example Q4_K or Q8_0");
}

std::vector<int64_t> read_shape(Cursor& in) {
  const auto n_dims = in.read<uint32_t>("dimension count");
  if (n_dims > max_dimensions) in.fail("{} dimensions, expected at most {}", n_dims, max_dimensions);
  std::vector<int64_t> shape(std::max<size_t>(n_dims, 1), 1);
  // Zero dimensions count as one here, so that no product of some of the dimensions can overflow either.
  int64_t product = 1;
  for (uint32_t i = 0; i < n_dims; ++i) {
    shape[i] = in.read<int64_t>("dimension");
    if (shape[i] < 0) in.fail("dimension {} is {}, expected 0 or more", i, shape[i]);
    if (__builtin_mul_overflow(product, std::max<int64_t>(shape[i], 1), &product))
      in.fail("shape [{}] has more than 2^63 elements",
              fmt::join(shape.begin(), shape.begin() + i + 1, ", "));
  }
  return shape;
}

/// A tensor record before its bytes are found: `offset` counts from the start of the data section.
struct Record {
  TensorInfo info;
  uint64_t offset, bytes;
};

Record read_record(Cursor& in, const std::string& label, int part) {
  const std::string_view tensor = as_text(in.take_string("name"));
  if (tensor.empty() || tensor.size() > max_tensor_name)
    in.fail("its name has {} bytes, expected 1 to {}", tensor.size(), max_tensor_name);
  in.set_subject(fmt::format("tensor '{}'", printable(tensor)));
  Record record{};
  record.info.name = tensor;
  record.info.part = part;
  record.info.shape = read_shape(in);
  const auto id = in.read<int32_t>("type");
  const auto type = dtype_from_gguf(id);
  if (!type) fail_unsupported_type(label, tensor, id);
  record.info.type = *type;
  record.offset = in.read<uint64_t>("offset");

  const DTypeInfo& t = info(*type);
  if (record.info.cols() % t.block_elements != 0)
    in.fail("rows of {} values, expected a multiple of {} for type {}", record.info.cols(), t.block_elements,
            t.name);
  uint64_t blocks = uint64_t(record.info.cols() / t.block_elements);
  blocks *= uint64_t(record.info.rows());
  if (__builtin_mul_overflow(blocks, uint64_t(t.block_bytes), &record.bytes))
    in.fail("{} blocks of {} bytes are more than 2^64 bytes", blocks, t.block_bytes);
  return record;
}

uint64_t alignment_of(const Metadata& metadata, Cursor& in) {
  for (const auto& [key, value] : metadata) {
    if (key != "general.alignment") continue;
    in.set_subject("key 'general.alignment'");
    if (value.type != ValueType::u32) in.fail("is {}, expected u32", name(value.type));
    uint32_t alignment;
    std::memcpy(&alignment, value.data.data(), sizeof alignment);
    if (!std::has_single_bit(alignment) || alignment < min_alignment || alignment > max_alignment)
      in.fail("is {}, expected a power of two from {} to {}", alignment, min_alignment, max_alignment);
    return alignment;
  }
  return default_alignment;
}

/// Rounds up; nothing if the result does not fit.
std::optional<uint64_t> align_up(uint64_t value, uint64_t alignment) {
  uint64_t raised;
  if (__builtin_add_overflow(value, alignment - 1, &raised)) return std::nullopt;
  return raised & ~(alignment - 1);
}

/// Finds every tensor's bytes. Tensors lie in record order, each at the next aligned place: a gap or an
/// overlap means that the record and the data are not of one file.
std::vector<TensorInfo> place(std::vector<Record> records, std::span<const std::byte> bytes,
                              uint64_t alignment, Cursor& in, const std::string& label) {
  const uint64_t start = *align_up(in.position(), alignment);
  std::vector<TensorInfo> tensors;
  tensors.reserve(records.size());
  uint64_t expected = 0;
  for (Record& record : records) {
    in.set_subject(fmt::format("tensor '{}'", printable(record.info.name)));
    if (record.offset != expected)
      in.fail("data offset is {}, expected {} ({})", record.offset, expected,
              tensors.empty() ? "it comes first"
                              : fmt::format("tensor '{}' ends there, padded to {}",
                                            printable(tensors.back().name), alignment));
    // `expected` is at most the file's size plus padding, so only the tensor's own size can overflow. A
    // tensor without elements may lie in final padding that the file does not have.
    uint64_t end;
    if (record.bytes > 0) {
      if (__builtin_add_overflow(start + expected, record.bytes, &end) || end > bytes.size())
        in.fail("needs {} bytes at byte {}, file has {}", record.bytes, start + expected, bytes.size());
      record.info.data = bytes.subspan(start + expected, record.bytes);
    }
    expected = *align_up(expected + record.bytes, alignment);
    tensors.push_back(std::move(record.info));
  }
  if (bytes.size() > start + expected)
    log(LogLevel::warning, "{}: {} bytes after the last tensor are ignored (expected {} bytes, file has {})",
        label, bytes.size() - start - expected, start + expected, bytes.size());
  return tensors;
}

}  // namespace

Part parse_part(std::span<const std::byte> bytes, const std::string& label, int part_index) {
  Cursor in(bytes, label);
  const Header header = read_header(in, bytes, label);
  Part part{header.version, read_metadata(in, bytes, header.n_keys), {}};
  const uint64_t alignment = alignment_of(part.metadata, in);

  std::vector<Record> records;
  for (uint64_t i = 0; i < header.n_tensors; ++i) {
    in.set_subject(fmt::format("tensor {} of {}", i + 1, header.n_tensors));
    records.push_back(read_record(in, label, part_index));
  }
  const NameIndex index(records, [](const Record& r) -> std::string_view { return r.info.name; });
  if (const auto twice = index.duplicate()) {
    in.set_subject(fmt::format("tensor '{}'", printable(records[twice->first].info.name)));
    in.fail("appears twice, as tensor {} and {} of {}", twice->first + 1, twice->second + 1,
            header.n_tensors);
  }
  part.tensors = place(std::move(records), bytes, alignment, in, label);
  return part;
}

}  // namespace minfer::gguf
