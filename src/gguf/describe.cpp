#include "gguf/describe.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <type_traits>

#include "gguf/printable.h"
#include "gguf/scalar.h"

namespace minfer::gguf {
namespace {

constexpr int shown_elements = 8;     // of an array, in text
constexpr size_t shown_bytes = 120;   // of a string, in text
constexpr size_t shown_element = 40;  // of a string in an array, in text

int64_t parameters(const File& file) {
  int64_t sum = 0;
  for (const TensorInfo& tensor : file.tensors()) sum += tensor.cols() * tensor.rows();
  return sum;
}

size_t tensor_bytes(const File& file) {
  size_t sum = 0;
  for (const TensorInfo& tensor : file.tensors()) sum += tensor.data.size();
  return sum;
}

std::string scalar_text(const Scalar& scalar, size_t max_bytes) {
  return std::visit(
      [&](const auto& v) {
        if constexpr (std::is_same_v<std::decay_t<decltype(v)>, std::string_view>)
          return fmt::format("\"{}\"", printable(v, max_bytes));
        else
          return fmt::format("{}", v);
      },
      scalar);
}

std::string value_text(const Value& value) {
  Elements elements(value);
  if (value.type != ValueType::array) return scalar_text(elements.next(), shown_bytes);
  std::string text = fmt::format("{} x {} [", value.count, name(value.element_type));
  for (int shown = 0; !elements.done() && shown < shown_elements; ++shown)
    text += (shown ? ", " : "") + scalar_text(elements.next(), shown_element);
  return text + (elements.done() ? "]" : ", ...]");
}

/// A JSON string with its quotes.
std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (size_t at = 0; at < text.size();) {
    const size_t length = utf8_length(text.substr(at));
    const char c = text[at];
    if (length == 0) {
      out += "\xef\xbf\xbd";  // U+FFFD
    } else if (c == '"' || c == '\\') {
      out += '\\', out += c;
    } else if (length == 1 && (uint8_t(c) < 0x20 || c == 0x7f)) {
      out += fmt::format("\\u{:04x}", uint8_t(c));
    } else {
      out += text.substr(at, length);
    }
    at += length ? length : 1;
  }
  return out + '"';
}

std::string json_scalar(const Scalar& scalar) {
  return std::visit(
      [](const auto& v) -> std::string {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, std::string_view>) return json_string(v);
        if constexpr (std::is_floating_point_v<T>)
          if (!std::isfinite(v)) return "null";
        if constexpr (!std::is_same_v<T, std::string_view>) return fmt::format("{}", v);
      },
      scalar);
}

std::string json_value(const Value& value) {
  Elements elements(value);
  if (value.type != ValueType::array) return json_scalar(elements.next());
  std::string out = "[";
  while (!elements.done()) {
    if (out.size() > 1) out += ',';
    out += json_scalar(elements.next());
  }
  return out + ']';
}

}  // namespace

std::string describe_text(const File& file) {
  std::string text =
      fmt::format("{}: GGUF version {}, {} {}, {} bytes\n", printable(file.path()), file.version(),
                  file.parts(), file.parts() == 1 ? "part" : "parts", file.file_bytes());
  text += fmt::format("\n{} metadata keys\n", file.metadata().size());
  for (const auto& [key, value] : file.metadata())
    text += fmt::format("  {} = {}\n", printable(key), value_text(value));
  text += fmt::format("\n{} tensors\n", file.tensors().size());
  for (const TensorInfo& tensor : file.tensors())
    text += fmt::format("  {:<40} {:<5} [{}] {} bytes\n", printable(tensor.name), info(tensor.type).name,
                        fmt::join(tensor.shape, ", "), tensor.data.size());
  return text + fmt::format("\n{} parameters in {} bytes\n", parameters(file), tensor_bytes(file));
}

std::string describe_json(const File& file) {
  std::string out = fmt::format(
      "{{\"path\":{},\"version\":{},\"parts\":{},\"bytes\":{},\"parameters\":{},\"metadata\":{{",
      json_string(file.path()), file.version(), file.parts(), file.file_bytes(), parameters(file));
  const char* separator = "";
  for (const auto& [key, value] : file.metadata()) {
    out += fmt::format("{}{}:{}", separator, json_string(key), json_value(value));
    separator = ",";
  }
  out += "},\"tensors\":[";
  separator = "";
  for (const TensorInfo& tensor : file.tensors()) {
    out += fmt::format("{}{{\"name\":{},\"type\":\"{}\",\"shape\":[{}],\"bytes\":{},\"part\":{}}}", separator,
                       json_string(tensor.name), info(tensor.type).name, fmt::join(tensor.shape, ","),
                       tensor.data.size(), tensor.part);
    separator = ",";
  }
  return out + "]}";
}

}  // namespace minfer::gguf
