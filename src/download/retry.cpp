#include "download/retry.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "base/error.h"
#include "base/log.h"
#include "gguf/printable.h"

namespace minfer::download {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds longest_backoff{30000};
constexpr int64_t longest_server_wait_seconds = 120;
constexpr milliseconds cancel_poll{50};

/// "1.5 seconds", without decimals that are zero.
std::string seconds_text(milliseconds time) { return fmt::format("{:.3g} s", double(time.count()) / 1000); }

}  // namespace

bool status_may_pass(int status) {
  return status == 408 || status == 429 || status == 500 || status == 502 || status == 503 || status == 504;
}

std::string describe_failure(const HttpResult& result) {
  if (!result.failure.empty()) return result.failure;
  std::string text = fmt::format("the server answers with status {}", result.head.status);
  if (const std::string words = result.head.header("x-error-message"); !words.empty())
    text += fmt::format(" (\"{}\")", gguf::printable(words));
  return text;
}

std::string hint_for_failure(const HttpResult& result) {
  if (result.unreachable)
    return "this needs the network; models that `minfer list` shows can be used without it. "
           "A proxy is taken from https_proxy";
  if (result.head.status == 429)
    return "the server limits how much it serves; wait a while, then give the same command again";
  if (!result.failure.empty() && !result.may_pass)
    return "this is about the connection or its certificates, not about the model";
  return "give the same command again later: what has arrived is kept, and the download goes on from there";
}

void Retry::wait(std::string_view doing, const HttpResult& result) {
  const std::string why = describe_failure(result);
  if (failures_ >= settings_.retries)
    throw Error(ErrorCode::io, fmt::format("{}: {}", doing, why), hint_for_failure(result));
  milliseconds pause = std::min(settings_.backoff * (1 << std::min(failures_, 10)), longest_backoff);
  ++failures_;
  if (const auto asked = result.head.retry_after_seconds()) {
    if (*asked > longest_server_wait_seconds)
      throw Error(ErrorCode::io, fmt::format("{}: {} and asks to wait {} seconds", doing, why, *asked),
                  hint_for_failure(result));
    pause = std::max(pause, milliseconds(*asked * 1000));
  }
  log(LogLevel::info, "{}: {}; trying again in {} ({} of {})", doing, why, seconds_text(pause), failures_,
      settings_.retries);
  for (milliseconds slept{0}; slept < pause && !settings_.cancelled(); slept += cancel_poll)
    std::this_thread::sleep_for(std::min(cancel_poll, pause - slept));
  if (settings_.cancelled()) throw Error(ErrorCode::io, "interrupted");
}

TextAnswer get_text(HttpClient& client, const Settings& settings, const HttpRequest& request,
                    size_t max_bytes, std::string_view doing) {
  Retry retry(settings);
  while (true) {
    TextAnswer answer;
    const HttpSink sink{.begin = [&](const HttpHead&) { answer.text.clear(); },
                        .data =
                            [&](std::span<const std::byte> bytes) {
                              if (answer.text.size() + bytes.size() > max_bytes)
                                throw Error(ErrorCode::io,
                                            fmt::format("{}: the answer exceeds {} bytes", doing, max_bytes),
                                            "no such server answers at such length; is the address right?");
                              answer.text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
                            }};
    HttpResult result = client.get(request, sink);
    const bool broke = !result.failure.empty();
    if (broke && (!result.may_pass || result.unreachable))
      throw Error(ErrorCode::io, fmt::format("{}: {}", doing, result.failure), hint_for_failure(result));
    if (!broke && !status_may_pass(result.head.status)) {
      answer.head = std::move(result.head);
      return answer;
    }
    retry.wait(doing, result);
  }
}

}  // namespace minfer::download
