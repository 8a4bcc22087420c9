#pragma once
#include <stdexcept>
#include <string>
#include <string_view>

namespace minfer {

/// What went wrong, for callers that must act on it: the server maps it to an HTTP status, the C API to a
/// status code.
enum class ErrorCode {
  bad_model,                ///< a model file breaks a rule of its format or architecture
  bad_request,              ///< an argument, a prompt or a setting that cannot be used
  context_length_exceeded,  ///< the tokens do not fit the context
  unsupported,              ///< well-formed, but no code here can run it
  out_of_memory,            ///< a buffer would not fit its budget or the machine
  device,                   ///< a device failed while running
  io,                       ///< a file, process or connection failed
};

/// The code's name as users see it, e.g. "bad_model".
std::string_view error_code_name(ErrorCode code);

/// The only exception type that leaves minfer. `what()`: what was being done, the value found, the value
/// expected. `hint`: what the user can do; empty if nothing.
class Error : public std::runtime_error {
 public:
  Error(ErrorCode error_code, std::string message, std::string what_to_do = {})
      : std::runtime_error(std::move(message)), code(error_code), hint(std::move(what_to_do)) {}
  const ErrorCode code;
  const std::string hint;
};

[[noreturn]] void check_failed(const char* cond, const char* why, const char* file, int line);

/// A broken promise inside minfer: never caused by a file, a request or a device. Prints and aborts.
#define MINFER_CHECK(cond, why) ((cond) ? void(0) : ::minfer::check_failed(#cond, why, __FILE__, __LINE__))

}  // namespace minfer
