#pragma once
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "download/settings.h"

namespace minfer::download {

/// A URL as libcurl itself reads it: what is checked here is what is connected to.
struct Url {
  std::string scheme;  ///< "http" or "https"
  std::string host;    ///< lower case
  std::string port;    ///< always set
  std::string path;    ///< still percent-encoded, begins with '/'
  std::string without_query;

  bool same_origin(const Url& other) const {
    return scheme == other.scheme && host == other.host && port == other.port;
  }
  /// Whether a token may be sent there: over TLS, or without leaving this machine.
  bool may_carry_secrets() const;
};

/// Throws Error{bad_request} naming `what` if `url` is no http or https URL, or holds a user name or
/// password.
Url parse_url(const std::string& url, std::string_view what);
/// `path` with every byte percent-encoded that is no letter, digit or one of -._~/
std::string escape_path(std::string_view path);
/// `text` with its percent escapes decoded.
std::string unescape(const std::string& text);

using HttpHeaders = std::map<std::string, std::string>;  ///< names in lower case; of equal names the last one

/// The part of an answer before its content.
struct HttpHead {
  int status = 0;  ///< 0: no answer came
  HttpHeaders headers;
  HttpHeaders first_headers;  ///< of the answer to the request's own URL, where redirects followed
  std::string url;            ///< after redirects

  /// Empty if absent.
  std::string header(const std::string& name) const;
  /// From Retry-After, in seconds or as a date; nothing if absent or unreadable.
  std::optional<int64_t> retry_after_seconds() const;
};

struct HttpRequest {
  std::string url;
  std::vector<std::string> headers = {};  ///< "Name: value", sent to every server a redirect leads to
  std::string token = {};                 ///< bearer token, sent to the origin of `url` and to no other
};

/// What takes an answer's content. Both may throw, which ends the transfer.
struct HttpSink {
  std::function<void(const HttpHead&)> begin;  ///< status is 2xx
  std::function<void(std::span<const std::byte>)> data;
};

/// How a transfer ended.
struct HttpResult {
  HttpHead head;
  std::string failure;       ///< empty if a whole answer came, whatever its status
  bool may_pass = false;     ///< the failure is of a kind that another attempt may cure
  bool unreachable = false;  ///< no server was found or none accepted the connection
};

/// GET over HTTP and HTTPS. Follows at most 10 redirects, never from HTTPS to HTTP. Uses the system's proxy
/// variables and certificates. One thread at a time.
class HttpClient {
 public:
  explicit HttpClient(const Settings& settings);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  /// One attempt. Throws Error{io} for a redirect that is not followed, when cancelled, and what the sink
  /// throws.
  HttpResult get(const HttpRequest& request, const HttpSink& sink);

 private:
  struct Exchange;
  struct Handle;
  HttpResult get_once(const HttpRequest& request, bool with_token, const HttpSink& sink,
                      std::string& location);

  const Settings& settings_;
  std::unique_ptr<Handle> handle_;
};

}  // namespace minfer::download
