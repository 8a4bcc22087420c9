// Any bytes: the reader gives a file whose every value and tensor can be read, or an Error.
#include "gguf/gguf.h"

#include <cstdlib>

#include "base/error.h"
#include "base/log.h"
#include "gguf/describe.h"

using namespace minfer;

namespace {

template <class Action>
void allow_error(Action action) {
  try {
    action();
  } catch (const Error&) {
  }
}

/// Touches both ends of a view, so that the address sanitizer sees one that leaves the file.
unsigned touch(std::span<const std::byte> bytes) {
  return bytes.empty() ? 0u : unsigned(bytes.front()) + unsigned(bytes.back());
}

void read_everything(const gguf::File& file) {
  for (const auto& [key, value] : file.metadata()) {
    if (file.find(key) != &value) std::abort();
    allow_error([&] { file.get_int(key); });
    allow_error([&] { file.get_float(key); });
    allow_error([&] { file.get_bool(key); });
    allow_error([&] { file.get_string(key); });
    allow_error([&] { file.get_strings(key); });
    allow_error([&] { file.get_floats(key); });
    allow_error([&] { file.get_ints(key); });
  }
  volatile unsigned sum = 0;
  for (const gguf::TensorInfo& tensor : file.tensors()) {
    if (file.find_tensor(tensor.name) != &tensor) std::abort();
    if (tensor.data.size() != row_bytes(tensor.type, tensor.cols()) * size_t(tensor.rows())) std::abort();
    sum = sum + touch(tensor.data);
  }
  gguf::describe_text(file);
  gguf::describe_json(file);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  set_log_level(LogLevel::error);  // bytes after the last tensor are worth a warning to people only
  allow_error([&] { read_everything(*gguf::File::parse(std::as_bytes(std::span(data, size)), "input")); });
  return 0;
}
