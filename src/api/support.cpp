#include "api/support.h"

#include <fmt/format.h>

#include "base/error.h"

namespace minfer::api {
namespace {

/// The last failure of a thread. A message that does not fit into memory is replaced by one that needs none.
struct LastFailure {
  std::string message, hint;
  bool out_of_memory = false;

  void set(std::string_view what, std::string_view what_to_do) noexcept {
    try {
      message = what;
      hint = what_to_do;
      out_of_memory = false;
    } catch (...) {
      out_of_memory = true;
    }
  }
};

LastFailure& last_failure() {
  thread_local LastFailure failure;
  return failure;
}

minfer_status status_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::bad_model:
      return MINFER_BAD_MODEL;
    case ErrorCode::bad_request:
      return MINFER_BAD_REQUEST;
    case ErrorCode::context_length_exceeded:
      return MINFER_CONTEXT_LENGTH_EXCEEDED;
    case ErrorCode::unsupported:
      return MINFER_UNSUPPORTED;
    case ErrorCode::out_of_memory:
      return MINFER_OUT_OF_MEMORY;
    case ErrorCode::device:
      return MINFER_DEVICE;
    case ErrorCode::io:
      return MINFER_IO;
  }
  return MINFER_INTERNAL;
}

constexpr size_t largest_struct = 4096;  // a size beyond it was never set

}  // namespace

minfer_status record_current_exception() noexcept {
  constexpr std::string_view our_bug = "this is a bug in minfer: please report it";
  LastFailure& last = last_failure();
  try {
    throw;
  } catch (const Failure& failure) {
    last.set(failure.message, failure.hint);
    return failure.status;
  } catch (const Error& error) {
    last.set(error.what(), error.hint);
    return status_of(error.code);
  } catch (const std::bad_alloc&) {
    last.set("out of memory", "use a smaller model, a smaller context or a packed KV format");
    return MINFER_OUT_OF_MEMORY;
  } catch (const std::exception& error) {
    last.set(error.what(), our_bug);
  } catch (...) {
    last.set("an unknown exception, perhaps from a callback", "a callback must not throw");
  }
  return MINFER_INTERNAL;
}

void require(const void* argument, std::string_view name) {
  if (argument == nullptr)
    throw Error(ErrorCode::bad_request, fmt::format("argument `{}` is null", name), "pass a valid pointer");
}

std::string_view text_argument(const char* text, size_t bytes, std::string_view name) {
  if (bytes == 0) return {};
  require(text, name);
  if (bytes > most_text_bytes)
    throw Error(ErrorCode::bad_request,
                fmt::format("argument `{}` has {} bytes, at most {} are taken", name, bytes, most_text_bytes),
                "split the text");
  return {text, bytes};
}

std::span<const int32_t> token_argument(const int32_t* tokens, size_t count, std::string_view name) {
  if (count == 0) return {};
  require(tokens, name);
  if (count > most_tokens)
    throw Error(ErrorCode::bad_request,
                fmt::format("argument `{}` has {} tokens, at most {} are taken", name, count, most_tokens));
  return {tokens, count};
}

void buffer_too_small(size_t needed, size_t capacity) {
  throw Failure{MINFER_BUFFER_TOO_SMALL,
                fmt::format("the result has {} elements, the buffer holds {}", needed, capacity),
                "ask for the count first: a null buffer of capacity 0"};
}

void check_struct_size(size_t size, std::string_view name) {
  if (size < sizeof(size_t) || size > largest_struct)
    throw Error(ErrorCode::bad_request, fmt::format("`{}`: its size is given as {} bytes", name, size),
                "call the struct's init function, or set its field `size` to its sizeof");
}

void check_unknown_fields(const void* object, size_t size, size_t known, std::string_view name) {
  const char* bytes = static_cast<const char*>(object);
  if (size > known && std::any_of(bytes + known, bytes + size, [](char byte) { return byte != 0; }))
    throw Error(
        ErrorCode::unsupported,
        fmt::format("`{}`: a setting beyond byte {} is not known to this library", name, known),
        "the program was compiled for a newer minfer: install that, or leave the setting at its default");
}

}  // namespace minfer::api

extern "C" {

const char* minfer_error_message(void) {
  const minfer::api::LastFailure& last = minfer::api::last_failure();
  return last.out_of_memory ? "out of memory" : last.message.c_str();
}

const char* minfer_error_hint(void) {
  const minfer::api::LastFailure& last = minfer::api::last_failure();
  return last.out_of_memory ? "" : last.hint.c_str();
}
}
