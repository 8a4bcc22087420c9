#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>
#include <string>
#include <string_view>

#include "minfer/minfer.h"

/// What every function of the C API is made of: a guard that lets no exception out, checks of arguments,
/// structs that may be older or newer than the library, and results in the caller's buffer.
namespace minfer::api {

/// A failure that only the C API knows: the rest of the library throws Error.
struct Failure {
  minfer_status status;
  std::string message, hint = {};
};

/// Called in a catch block: records the exception in flight for this thread and gives its status.
minfer_status record_current_exception() noexcept;

/// Runs `body`, which does the work and throws what goes wrong.
template <class Body>
minfer_status guarded(Body&& body) noexcept {
  try {
    body();
    return MINFER_OK;
  } catch (...) {
    return record_current_exception();
  }
}

inline constexpr size_t most_text_bytes = size_t(256) << 20;
inline constexpr size_t most_tokens = size_t(1) << 28;

/// Throws Error{bad_request} naming the argument.
void require(const void* argument, std::string_view name);
/// Input text or tokens as a span; null only if it is empty. Throws Error{bad_request} naming the argument.
std::string_view text_argument(const char* text, size_t bytes, std::string_view name);
std::span<const int32_t> token_argument(const int32_t* tokens, size_t count, std::string_view name);

/// Throws Failure{MINFER_BUFFER_TOO_SMALL}.
[[noreturn]] void buffer_too_small(size_t needed, size_t capacity);
/// Throws Error{bad_request} for a size that was certainly never set.
void check_struct_size(size_t size, std::string_view name);
/// Throws Error{unsupported} if a field beyond the `known` bytes is set: only a newer library has it.
void check_unknown_fields(const void* object, size_t size, size_t known, std::string_view name);

/// Results into the caller's buffer, as minfer.h says of all buffers.
template <class Element>
void give(std::span<const Element> results, Element* buffer, size_t capacity, size_t* count) {
  require(count, "count");
  if (capacity > 0) require(buffer, "the buffer");
  *count = results.size();
  if (buffer == nullptr) return;
  if (results.size() > capacity) buffer_too_small(results.size(), capacity);
  std::copy(results.begin(), results.end(), buffer);
}

/// A struct of options as the caller knows it, the rest at its defaults.
template <class Struct>
Struct read_struct(const Struct* given, const Struct& defaults, std::string_view name) {
  Struct all = defaults;
  if (given == nullptr) return all;
  check_struct_size(given->size, name);
  check_unknown_fields(given, given->size, sizeof(Struct), name);
  std::memcpy(&all, given, std::min(given->size, sizeof(Struct)));
  all.size = sizeof(Struct);
  return all;
}

/// The number in an enum that a caller filled in: C allows any, and C++ only those of the enum to be read as one.
template <class Enum>
int number_of(const Enum& value) {
  int number;
  static_assert(sizeof number == sizeof value);
  std::memcpy(&number, &value, sizeof number);
  return number;
}

/// Fills in as much of a struct as the caller knows; the rest of a newer one becomes zero.
template <class Struct>
void write_struct(Struct* target, size_t size, const Struct& values, std::string_view name) {
  require(target, name);
  check_struct_size(size, name);
  std::memset(static_cast<void*>(target), 0, size);
  std::memcpy(static_cast<void*>(target), &values, std::min(size, sizeof(Struct)));
  target->size = size;
}

}  // namespace minfer::api
