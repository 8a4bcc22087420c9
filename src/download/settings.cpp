#include "download/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "base/error.h"
#include "base/log.h"
#include "download/http.h"

namespace minfer::download {
namespace {

std::string from_environment(const char* variable) {
  const char* value = std::getenv(variable);
  return value ? value : "";
}

int number_from(const char* variable, int otherwise, int lowest, int highest) {
  const std::string text = from_environment(variable);
  if (text.empty()) return otherwise;
  int number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed != std::errc() || end != text.data() + text.size() || number < lowest || number > highest)
    throw Error(ErrorCode::bad_request,
                fmt::format("{}={}: expected a number from {} to {}", variable, text, lowest, highest));
  return number;
}

/// A base URL without its last slashes, so that a path can follow.
std::string base_url_from(const char* variable, std::string otherwise) {
  std::string url = from_environment(variable);
  if (url.empty()) return otherwise;
  while (url.ends_with('/')) url.pop_back();
  parse_url(url, variable);
  return url;
}

/// The token's text is never shown: messages end up in logs.
std::string token_from(const char* variable) {
  std::string token = from_environment(variable);
  const auto is_blank = [](char c) { return std::strchr(" \t\r\n", c) && c; };
  while (!token.empty() && is_blank(token.back())) token.pop_back();
  const bool clean = std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c < 0x7f; });
  if (!clean)
    throw Error(ErrorCode::bad_request,
                fmt::format("{} holds blanks or characters that no token has", variable),
                fmt::format("set {} to the token alone, or unset it", variable));
  return token;
}

}  // namespace

Settings settings_from_environment() {
  Settings settings;
  settings.stall_seconds = number_from("MINFER_DOWNLOAD_STALL_SECONDS", settings.stall_seconds, 1, 3600);
  settings.retries = number_from("MINFER_DOWNLOAD_RETRIES", settings.retries, 0, 100);
  settings.backoff = std::chrono::milliseconds(
      number_from("MINFER_DOWNLOAD_BACKOFF_MS", int(settings.backoff.count()), 0, 60000));
  settings.hub_url = base_url_from("HF_ENDPOINT", settings.hub_url);
  settings.ollama_url = base_url_from("MINFER_OLLAMA_URL", settings.ollama_url);
  settings.hub_token = token_from("HF_TOKEN");
  if (!settings.hub_token.empty() && !parse_url(settings.hub_url, "HF_ENDPOINT").may_carry_secrets()) {
    log(LogLevel::warning, "HF_TOKEN is not sent: {} is plain HTTP to another machine", settings.hub_url);
    settings.hub_token.clear();
  }
  return settings;
}

}  // namespace minfer::download
