#include "base/error.h"

#include <cstdio>
#include <cstdlib>

namespace minfer {

std::string_view error_code_name(ErrorCode code) {
  switch (code) {
    case ErrorCode::bad_model:
      return "bad_model";
    case ErrorCode::bad_request:
      return "bad_request";
    case ErrorCode::context_length_exceeded:
      return "context_length_exceeded";
    case ErrorCode::unsupported:
      return "unsupported";
    case ErrorCode::out_of_memory:
      return "out_of_memory";
    case ErrorCode::device:
      return "device";
    case ErrorCode::io:
      return "io";
  }
  return "unknown";
}

void check_failed(const char* cond, const char* why, const char* file, int line) {
  std::fprintf(stderr, "minfer: internal error at %s:%d: %s (%s)\n", file, line, why, cond);
  std::abort();
}

}  // namespace minfer
