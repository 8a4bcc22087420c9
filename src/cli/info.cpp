#include <fmt/format.h>

#include <cstring>
#include <map>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/json_text.h"
#include "cli/model_store.h"
#include "cli/output.h"
#include "gguf/gguf.h"

namespace minfer::cli {
namespace {

using gguf::Value;
using gguf::ValueType;
using Json = nlohmann::ordered_json;

constexpr uint64_t shown_elements = 8;    // of an array, in text
constexpr size_t shown_characters = 100;  // of a string, in text

template <class T>
T load(std::span<const std::byte> bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

/// One element at the head of `bytes`, which then begins after it. The file was checked when it was opened.
Json take_element(ValueType type, std::span<const std::byte>& bytes) {
  const auto take = [&bytes](size_t count) {
    const auto head = bytes.first(count);
    bytes = bytes.subspan(count);
    return head;
  };
  switch (type) {
    case ValueType::u8:
      return load<uint8_t>(take(1));
    case ValueType::i8:
      return load<int8_t>(take(1));
    case ValueType::boolean:
      return load<uint8_t>(take(1)) != 0;
    case ValueType::u16:
      return load<uint16_t>(take(2));
    case ValueType::i16:
      return load<int16_t>(take(2));
    case ValueType::u32:
      return load<uint32_t>(take(4));
    case ValueType::i32:
      return load<int32_t>(take(4));
    case ValueType::f32:
      return load<float>(take(4));
    case ValueType::u64:
      return load<uint64_t>(take(8));
    case ValueType::i64:
      return load<int64_t>(take(8));
    case ValueType::f64:
      return load<double>(take(8));
    case ValueType::string: {
      const auto text = take(load<uint64_t>(take(8)));
      return std::string(reinterpret_cast<const char*>(text.data()), text.size());
    }
    case ValueType::array:
      break;
  }
  MINFER_CHECK(false, "a file with an array of arrays cannot be opened");
}

Json array_head(const Value& value, uint64_t limit) {
  Json array = Json::array();
  std::span<const std::byte> rest = value.data;
  for (uint64_t i = 0; i < std::min(limit, value.count); ++i)
    array.push_back(take_element(value.element_type, rest));
  return array;
}

Json value_json(const Value& value, uint64_t limit) {
  if (value.type == ValueType::array) return array_head(value, limit);
  if (value.type == ValueType::string)
    return std::string(reinterpret_cast<const char*>(value.data.data()), value.data.size());
  std::span<const std::byte> bytes = value.data;
  return take_element(value.type, bytes);
}

/// Names and strings come from the file: JSON escapes keep control characters away from the terminal.
std::string printable(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::string value_text(const Value& value) {
  if (value.type == ValueType::array)
    return fmt::format("{} of {}: {}{}", value.count, gguf::name(value.element_type),
                       printable(array_head(value, shown_elements)),
                       value.count > shown_elements ? " ..." : "");
  if (value.type != ValueType::string) return printable(value_json(value, 1));
  std::string text(reinterpret_cast<const char*>(value.data.data()), value.data.size());
  if (text.size() <= shown_characters) return printable(text);
  text.resize(shown_characters);
  return fmt::format("{} ... ({} bytes)", printable(text), value.data.size());
}

/// Without quotes: for names, which seldom need any.
std::string name_text(std::string_view name) {
  const std::string quoted = printable(std::string(name));
  return quoted.substr(1, quoted.size() - 2);
}

std::string describe_text(const gguf::File& file) {
  std::string text = fmt::format("{}: GGUF version {}, {} bytes in {} file{}\n", file.path(), file.version(),
                                 file.file_bytes(), file.parts(), file.parts() == 1 ? "" : "s");
  text += fmt::format("\n{} keys\n", file.metadata().size());
  for (const auto& [key, value] : file.metadata())
    text += fmt::format("  {} ({}) = {}\n", name_text(key), gguf::name(value.type), value_text(value));
  text += fmt::format("\n{} tensors\n", file.tensors().size());
  std::map<std::string_view, std::pair<int64_t, size_t>> by_type;
  for (const gguf::TensorInfo& tensor : file.tensors()) {
    const std::string_view type = info(tensor.type).name;
    text += fmt::format("  {:<40} {:<5} {:>12} bytes  {}\n", name_text(tensor.name), type, tensor.data.size(),
                        printable(tensor.shape));
    by_type[type].first++;
    by_type[type].second += tensor.data.size();
  }
  text += "\n";
  for (const auto& [type, sums] : by_type)
    text += fmt::format("{:<5} {:>5} tensors {:>12} bytes\n", type, sums.first, sums.second);
  return text;
}

Json describe_json(const gguf::File& file) {
  Json json = {{"path", file.path()},
               {"version", file.version()},
               {"bytes", file.file_bytes()},
               {"parts", file.parts()}};
  Json& metadata = json["metadata"] = Json::object();
  for (const auto& [key, value] : file.metadata()) metadata[key] = value_json(value, value.count);
  Json& tensors = json["tensors"] = Json::array();
  for (const gguf::TensorInfo& tensor : file.tensors())
    tensors.push_back({{"name", tensor.name},
                       {"type", info(tensor.type).name},
                       {"shape", tensor.shape},
                       {"bytes", tensor.data.size()},
                       {"part", tensor.part}});
  return json;
}

}  // namespace

int info(const InfoOptions& options) {
  const auto file = gguf::File::open(find_model(options.model));
  write_out(options.json ? json_line(describe_json(*file)) : describe_text(*file));
  return exit_ok;
}

}  // namespace minfer::cli
