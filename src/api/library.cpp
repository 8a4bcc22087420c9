#include <fmt/format.h>

#include "api/support.h"
#include "base/error.h"
#include "base/log.h"

using namespace minfer;

extern "C" {

const char* minfer_version(void) { return MINFER_VERSION; }

int32_t minfer_abi_version(void) { return MINFER_ABI_VERSION; }

const char* minfer_status_name(minfer_status status) {
  switch (api::number_of(status)) {
    case MINFER_OK:
      return "ok";
    case MINFER_BAD_MODEL:
      return "bad_model";
    case MINFER_BAD_REQUEST:
      return "bad_request";
    case MINFER_CONTEXT_LENGTH_EXCEEDED:
      return "context_length_exceeded";
    case MINFER_UNSUPPORTED:
      return "unsupported";
    case MINFER_OUT_OF_MEMORY:
      return "out_of_memory";
    case MINFER_DEVICE:
      return "device";
    case MINFER_IO:
      return "io";
    case MINFER_BUFFER_TOO_SMALL:
      return "buffer_too_small";
    case MINFER_CANCELLED:
      return "cancelled";
    case MINFER_INTERNAL:
      return "internal";
  }
  return "unknown";
}

minfer_status minfer_log_set_level(minfer_log_level level) {
  return api::guarded([&] {
    const int number = api::number_of(level);
    if (number < MINFER_LOG_DEBUG || number > MINFER_LOG_ERROR)
      throw Error(ErrorCode::bad_request, fmt::format("argument `level` is {}, expected 0 to 3", number));
    set_log_level(LogLevel(number));
  });
}

minfer_status minfer_log_set_callback(minfer_log_callback callback, void* user) {
  return api::guarded([&] {
    if (callback == nullptr) return set_log_sink(nullptr);
    set_log_sink([callback, user](LogLevel level, const std::string& text) {
      callback(minfer_log_level(int(level)), text.c_str(), user);
    });
  });
}
}
