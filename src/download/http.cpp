// The only file that speaks with libcurl.
#include "download/http.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <exception>

#include "base/error.h"
#include "download/curl_library.h"
#include "gguf/printable.h"

namespace minfer::download {
namespace {

constexpr int max_redirects = 10;
constexpr size_t max_header_bytes = 256 << 10;
constexpr size_t max_error_body_bytes = 64 << 10;  // of an answer that is no success; read and dropped
constexpr long connect_timeout_seconds = 15;
constexpr long read_buffer_bytes = 256 << 10;
constexpr curl_off_t low_speed_bytes =
    1000;  // a second: what is slower all through the stall time has stalled

std::string lower(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = char(c - 'A' + 'a');
  return text;
}

std::string_view trimmed(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

/// One part of a parsed URL; empty if it has none.
std::string url_part(CURLU* url, CURLUPart part, unsigned flags = 0) {
  char* text = nullptr;
  if (libcurl().url_get(url, part, &text, flags) != CURLUE_OK) return {};
  const std::unique_ptr<char, void (*)(void*)> owned(text, libcurl().free);
  return text;
}

}  // namespace

bool Url::is_loopback() const {
  // A name may begin with 127. as well: only digits and dots make an address.
  const bool is_address = host.find_first_not_of("0123456789.") == std::string::npos;
  return host == "localhost" || host == "[::1]" || (is_address && host.starts_with("127."));
}

Url parse_url(const std::string& text, std::string_view what) {
  const auto refuse = [&](std::string_view why) {
    return Error(ErrorCode::bad_request, fmt::format("{} {}: {}", what, gguf::printable(text), why),
                 "expected a URL such as https://example.org/model.gguf");
  };
  const std::unique_ptr<CURLU, void (*)(CURLU*)> url(libcurl().url(), libcurl().url_cleanup);
  if (!url ||
      libcurl().url_set(url.get(), CURLUPART_URL, text.c_str(), CURLU_NON_SUPPORT_SCHEME) != CURLUE_OK)
    throw refuse("this is no URL");
  Url parts;
  parts.scheme = lower(url_part(url.get(), CURLUPART_SCHEME));
  if (parts.scheme != "http" && parts.scheme != "https") throw refuse("only http and https are spoken");
  if (!url_part(url.get(), CURLUPART_USER).empty() || !url_part(url.get(), CURLUPART_PASSWORD).empty())
    throw refuse("a user name or password has no place in it");
  parts.host = lower(url_part(url.get(), CURLUPART_HOST));
  parts.port = url_part(url.get(), CURLUPART_PORT, CURLU_DEFAULT_PORT);
  parts.path = url_part(url.get(), CURLUPART_PATH);
  libcurl().url_set(url.get(), CURLUPART_QUERY, nullptr, 0);
  libcurl().url_set(url.get(), CURLUPART_FRAGMENT, nullptr, 0);
  parts.without_query = url_part(url.get(), CURLUPART_URL);
  return parts;
}

std::string escape_path(std::string_view path) {
  std::string escaped;
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '.' || c == '_' || c == '~' || c == '/';
    if (plain)
      escaped += c;
    else
      escaped += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return escaped;
}

std::string unescape(const std::string& text) {
  int length = 0;
  const std::unique_ptr<char, void (*)(void*)> decoded(
      libcurl().easy_unescape(nullptr, text.c_str(), int(text.size()), &length), libcurl().free);
  return decoded ? std::string(decoded.get(), size_t(length)) : std::string();
}

std::string HttpHead::header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? std::string() : found->second;
}

std::optional<int64_t> HttpHead::retry_after_seconds() const {
  const std::string text = header("retry-after");
  int64_t seconds = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (failed == std::errc() && end == text.data() + text.size() && seconds >= 0) return seconds;
  const time_t date = libcurl().getdate(text.c_str(), nullptr);
  if (text.empty() || date < 0) return std::nullopt;
  return std::max<int64_t>(0, int64_t(date) - int64_t(std::time(nullptr)));
}

struct HttpClient::Handle {
  CURL* curl = nullptr;
  Handle() {
    curl = libcurl().easy_init();
    if (!curl) throw Error(ErrorCode::io, "libcurl gives no handle");
  }
  ~Handle() { libcurl().easy_cleanup(curl); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
};

/// One request and its answer, as libcurl's callbacks see them. No exception may cross libcurl, so the first
/// one is kept here and thrown again afterwards.
struct HttpClient::Exchange {
  const Settings& settings;
  const HttpSink& sink;
  HttpHead head = {};
  size_t header_bytes = 0, dropped_bytes = 0;
  bool begun = false, stalled = false;
  std::chrono::steady_clock::time_point window_start = std::chrono::steady_clock::now();
  curl_off_t window_bytes = 0;  ///< received before the window
  std::exception_ptr thrown = nullptr;

  bool success() const { return head.status >= 200 && head.status < 300; }

  /// False ends the transfer.
  template <class Step>
  bool guarded(Step step) {
    try {
      step();
      return true;
    } catch (...) {
      thrown = std::current_exception();
      return false;
    }
  }

  void take_header(std::string_view line) {
    header_bytes += line.size();
    if (header_bytes > max_header_bytes)
      throw Error(ErrorCode::io,
                  fmt::format("{}: the answer's headers exceed {} bytes", head.url, max_header_bytes),
                  "no server for files answers so; is the address right?");
    if (begun) return;  // a trailer after the content
    if (line.starts_with("HTTP/")) {
      head.headers.clear();
      head.status = 0;
      const size_t space = std::min(line.find(' '), line.size());
      const std::string_view rest = trimmed(line.substr(space));
      std::from_chars(rest.data(), rest.data() + rest.size(), head.status);
    } else if (const size_t colon = line.find(':'); colon != line.npos) {
      head.headers[lower(std::string(line.substr(0, colon)))] = trimmed(line.substr(colon + 1));
    } else if (trimmed(line).empty() && success()) {
      begun = true;
      if (sink.begin) sink.begin(head);
    }
  }

  void take_data(std::span<const std::byte> bytes) {
    if (success()) {
      if (sink.data) sink.data(bytes);
      return;
    }
    dropped_bytes += bytes.size();  // an error page; its status says enough
  }

  static size_t on_header(char* text, size_t, size_t size, void* self) {
    auto& exchange = *static_cast<Exchange*>(self);
    return exchange.guarded([&] { exchange.take_header({text, size}); }) ? size : 0;
  }
  static size_t on_data(char* bytes, size_t, size_t size, void* self) {
    auto& exchange = *static_cast<Exchange*>(self);
    const bool ok = exchange.guarded([&] { exchange.take_data(std::as_bytes(std::span(bytes, size))); });
    return ok && exchange.dropped_bytes <= max_error_body_bytes ? size : 0;
  }
  /// Called at least once a second, also while nothing arrives. libcurl's own low-speed limit averages over
  /// five seconds, so it would notice the end of a fast transfer late.
  static int on_progress(void* self, curl_off_t, curl_off_t received, curl_off_t, curl_off_t) {
    auto& exchange = *static_cast<Exchange*>(self);
    exchange.stalled = exchange.is_stalled(received);
    return exchange.stalled || exchange.settings.cancelled() ? 1 : 0;
  }
  bool is_stalled(curl_off_t received) {
    const auto now = std::chrono::steady_clock::now();
    if (received - window_bytes >= low_speed_bytes * settings.stall_seconds) {
      window_start = now;
      window_bytes = received;
    }
    return now - window_start > std::chrono::seconds(settings.stall_seconds);
  }
};

namespace {

/// Another attempt may go well: the connection broke, stalled, or the server was too busy to finish.
bool may_pass(CURLcode code) {
  switch (code) {
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
    case CURLE_OPERATION_TIMEDOUT:
    case CURLE_PARTIAL_FILE:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
      return true;
    default:
      return false;
  }
}

bool is_redirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

/// Where a redirect leads, if it may be followed.
std::string checked_redirect(const std::string& from, const std::string& to) {
  if (to.empty())
    throw Error(ErrorCode::io, fmt::format("{}: a redirect without a target", from),
                "the server is broken, or the address is not what it serves; try later");
  // Without their queries in messages: those of download servers may hold signatures.
  const Url source = parse_url(from, "the address");
  const Url target = parse_url(to, fmt::format("{} redirects to", source.without_query));
  if (source.scheme == "https" && target.scheme != "https")
    throw Error(
        ErrorCode::io,
        fmt::format("{} redirects from HTTPS to plain HTTP ({})", source.without_query, target.without_query),
        "this is not followed: the content could be replaced on its way");
  return to;
}

using HeaderList = std::unique_ptr<curl_slist, void (*)(curl_slist*)>;

HeaderList header_list(const HttpRequest& request, bool with_token) {
  HeaderList list(nullptr, libcurl().slist_free_all);
  const auto add = [&](const std::string& line) {
    curl_slist* longer = libcurl().slist_append(list.get(), line.c_str());
    if (!longer) throw std::bad_alloc();
    (void)list.release();
    list.reset(longer);
  };
  for (const std::string& line : request.headers) add(line);
  if (with_token) add("Authorization: Bearer " + request.token);
  return list;
}

void set_up(CURL* curl, const std::string& url, curl_slist* headers) {
  const CurlLibrary& lib = libcurl();
  lib.easy_reset(curl);
  lib.easy_setopt(curl, CURLOPT_URL, url.c_str());
  // What is meant for this machine, perhaps with a token, must not travel to a proxy elsewhere.
  if (parse_url(url, "the address").is_loopback()) lib.easy_setopt(curl, CURLOPT_PROXY, "");
  lib.easy_setopt(curl, CURLOPT_BUFFERSIZE, read_buffer_bytes);
  lib.easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  lib.easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);  // ours to follow: the token must not travel
  lib.easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
  lib.easy_setopt(curl, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);  // a proxy's own answer is none
  lib.easy_setopt(curl, CURLOPT_USERAGENT, "minfer/" MINFER_VERSION);
  lib.easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  lib.easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, connect_timeout_seconds);
  lib.easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
  // OpenSSL's own variable, which libcurl overrides by the system's list: for networks with their own
  // authority.
  if (const char* authorities = std::getenv("SSL_CERT_FILE"); authorities && *authorities)
    lib.easy_setopt(curl, CURLOPT_CAINFO, authorities);
}

}  // namespace

HttpClient::HttpClient(const Settings& settings) : settings_(settings), handle_(std::make_unique<Handle>()) {}
HttpClient::~HttpClient() = default;

HttpResult HttpClient::get_once(const HttpRequest& request, bool with_token, const HttpSink& sink,
                                std::string& location) {
  const CurlLibrary& lib = libcurl();
  CURL* curl = handle_->curl;
  const HeaderList headers = header_list(request, with_token);
  char message[CURL_ERROR_SIZE] = "";
  Exchange exchange{settings_, sink};
  exchange.head.url = request.url;
  set_up(curl, request.url, headers.get());
  lib.easy_setopt(curl, CURLOPT_ERRORBUFFER, message);
  lib.easy_setopt(curl, CURLOPT_HEADERFUNCTION, &Exchange::on_header);
  lib.easy_setopt(curl, CURLOPT_HEADERDATA, &exchange);
  lib.easy_setopt(curl, CURLOPT_WRITEFUNCTION, &Exchange::on_data);
  lib.easy_setopt(curl, CURLOPT_WRITEDATA, &exchange);
  lib.easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, &Exchange::on_progress);
  lib.easy_setopt(curl, CURLOPT_XFERINFODATA, &exchange);
  const CURLcode code = lib.easy_perform(curl);
  if (exchange.thrown) std::rethrow_exception(exchange.thrown);
  if (code == CURLE_ABORTED_BY_CALLBACK && !exchange.stalled) throw Error(ErrorCode::io, "interrupted");

  HttpResult result;
  result.head = std::move(exchange.head);
  const bool error_page_cut = exchange.dropped_bytes > max_error_body_bytes;
  if (code != CURLE_OK && !error_page_cut) {
    result.failure = gguf::printable(*message ? message : lib.easy_strerror(code));
    if (exchange.stalled) result.failure = fmt::format("no data for {} seconds", settings_.stall_seconds);
    result.may_pass = exchange.stalled || may_pass(code);
    result.unreachable = code == CURLE_COULDNT_RESOLVE_HOST || code == CURLE_COULDNT_CONNECT;
  }
  char* target = nullptr;
  lib.easy_getinfo(curl, CURLINFO_REDIRECT_URL, &target);
  location = target ? target : "";
  return result;
}

HttpResult HttpClient::get(const HttpRequest& request, const HttpSink& sink) {
  const Url origin = parse_url(request.url, "the address");
  HttpRequest hop = request;
  HttpHeaders first_headers;
  for (int redirects = 0; redirects <= max_redirects; ++redirects) {
    const Url here = parse_url(hop.url, "the address");
    const bool with_token = !request.token.empty() && here.same_origin(origin) && here.may_carry_secrets();
    HttpSink with_first = sink;
    if (redirects > 0 && sink.begin)
      with_first.begin = [&](const HttpHead& head) {
        HttpHead full = head;
        full.first_headers = first_headers;
        sink.begin(full);
      };
    std::string location;
    HttpResult result = get_once(hop, with_token, with_first, location);
    if (redirects == 0) first_headers = result.head.headers;
    result.head.first_headers = first_headers;
    if (!result.failure.empty() || !is_redirect(result.head.status)) return result;
    hop.url = checked_redirect(hop.url, location);
  }
  throw Error(ErrorCode::io, fmt::format("{}: more than {} redirects", request.url, max_redirects),
              "the server sends in circles; try later, or tell those who run it");
}

}  // namespace minfer::download
