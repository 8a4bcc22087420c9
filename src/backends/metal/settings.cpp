#include "backends/metal/settings.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <cstring>

#include "base/error.h"
#include "base/log.h"

namespace minfer::metal {
namespace {

[[noreturn]] void reject(const char* name, std::string_view text, std::string_view takes) {
  throw Error(ErrorCode::bad_request, fmt::format("{}={}: expected {}", name, text, takes),
              fmt::format("unset {}", name));
}

/// Unset and empty leave a setting as it is.
const char* variable(const char* name) {
  const char* text = std::getenv(name);
  return text != nullptr && *text != '\0' ? text : nullptr;
}

/// `flag` becomes `when_set` for 1 and its opposite for 0.
void read_switch(const char* name, bool& flag, bool when_set) {
  const char* text = variable(name);
  if (text == nullptr) return;
  if (std::strcmp(text, "0") != 0 && std::strcmp(text, "1") != 0) reject(name, text, "0 or 1");
  const bool value = (*text == '1') == when_set;
  if (value != flag) log(LogLevel::info, "{}={}", name, text);
  flag = value;
}

void read_number(const char* name, int& number, int lowest) {
  const char* text = variable(name);
  if (text == nullptr) return;
  const char* end = text + std::strlen(text);
  int value = 0;
  const auto [stopped, error] = std::from_chars(text, end, value);
  if (error != std::errc() || stopped != end || value < lowest) {
    reject(name, text, fmt::format("a number from {} on", lowest));
  }
  if (value != number) log(LogLevel::info, "{}={}", name, text);
  number = value;
}

BarrierMode read_barriers() {
  const char* text = variable("MINFER_METAL_BARRIERS");
  if (text == nullptr || std::strcmp(text, "planned") == 0) return BarrierMode::planned;
  if (std::strcmp(text, "all") != 0) reject("MINFER_METAL_BARRIERS", text, "planned or all");
  log(LogLevel::info, "MINFER_METAL_BARRIERS=all");
  return BarrierMode::all;
}

}  // namespace

Settings Settings::from_environment() {
  Settings settings;
  read_switch("MINFER_GEMM", settings.gemm, true);
  read_switch("MINFER_HALF_STAGING", settings.half_staging, true);
  read_switch("MINFER_NO_FLASH", settings.flash, false);
  read_switch("MINFER_NO_SPLIT_ATTN", settings.split_attention, false);
  read_switch("MINFER_NO_PREFILL_FLASH", settings.prefill_flash, false);
  read_switch("MINFER_NO_MATMUL_ATTN", settings.matmul_attention, false);
  read_switch("MINFER_NO_RMS_256", settings.rms_256, false);
  read_switch("MINFER_PACKED_KV_STAGE", settings.packed_stage, true);
  read_switch("MINFER_WEIGHT_COPY", settings.weight_copy, true);
  read_switch("MINFER_TRACE", settings.trace, true);
  read_switch("MINFER_OP_PROFILE", settings.profile, true);
  read_switch("MINFER_METAL_NARROW", settings.narrow, true);
  read_number("MINFER_ATTN_CHUNKS", settings.attention_chunks, 1);
  read_number("MINFER_METAL_TIMEOUT_MS", settings.timeout_ms, 1);
  settings.barriers = read_barriers();
  return settings;
}

}  // namespace minfer::metal
