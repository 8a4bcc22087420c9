#pragma once
#include <string>
#include <string_view>

#include "download/http.h"

namespace minfer::download {

/// Counts attempts and waits between them, each time twice as long, or as long as the server asks.
class Retry {
 public:
  explicit Retry(const Settings& settings) : settings_(settings) {}

  /// After an attempt that brought something: the count starts anew.
  void progressed() { failures_ = 0; }

  /// Says why, waits, and returns; the caller then tries again. Throws Error{io} if the retries are used up,
  /// if the server wants a longer wait than anybody would sit through, or when cancelled meanwhile.
  void wait(std::string_view doing, const HttpResult& result);

 private:
  const Settings& settings_;
  int failures_ = 0;
};

/// A status that may be another one next time: 408, 429 and those of a server in trouble.
bool status_may_pass(int status);
/// What went wrong with this attempt: the failure, or the status with the server's own words.
std::string describe_failure(const HttpResult& result);
/// What the user can do about it, in general.
std::string hint_for_failure(const HttpResult& result);

/// A whole answer of at most `max_bytes` as text, whatever its final status; tried again after failures that
/// may pass, but not where no server is reached at all. Throws Error{io}.
struct TextAnswer {
  HttpHead head;
  std::string text;  ///< empty unless the status is 2xx
};
TextAnswer get_text(HttpClient& client, const Settings& settings, const HttpRequest& request,
                    size_t max_bytes, std::string_view doing);

}  // namespace minfer::download
