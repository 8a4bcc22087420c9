#include "download/fetch_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/log.h"
#include "base/sha256.h"
#include "download/partial_file.h"
#include "download/progress.h"
#include "download/retry.h"
#include "gguf/gguf.h"
#include "gguf/printable.h"

namespace minfer::download {
namespace {

constexpr int max_restarts = 3;
constexpr uint64_t worth_noting = 1 << 20;  // an attempt that brought so much is no failure in a row
constexpr uint64_t disk_margin = 64 << 20;  // so that the file system is not filled to the last byte

std::optional<uint64_t> number(std::string_view text) {
  uint64_t value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// A validator that If-Range accepts: a strong ETag; a weak one promises no equal bytes.
std::string strong_etag(const HttpHead& head) {
  const std::string etag = head.header("etag");
  return etag.starts_with('"') && etag.ends_with('"') && etag.size() > 2 ? etag : std::string();
}

/// "bytes 100-199/200": where the part begins and how large the whole is.
struct ContentRange {
  uint64_t first, total;
};

std::optional<ContentRange> parse_content_range(std::string_view text) {
  if (!text.starts_with("bytes ")) return std::nullopt;
  text.remove_prefix(6);
  const size_t dash = text.find('-'), slash = text.find('/');
  if (dash == text.npos || slash == text.npos || dash > slash) return std::nullopt;
  const auto first = number(text.substr(0, dash)), last = number(text.substr(dash + 1, slash - dash - 1)),
             total = number(text.substr(slash + 1));
  if (!first || !last || !total || *last < *first || *last >= *total) return std::nullopt;
  return ContentRange{*first, *total};
}

/// Thrown inside a transfer, and caught in this file, where the server's content turns out to be another one
/// than the part at hand: the next attempt begins at 0.
struct ContentChanged {};

/// One file on its way, over as many attempts as it takes.
class Transfer {
 public:
  Transfer(HttpClient& client, const Settings& settings, const RemoteFile& file,
           const std::function<Error(const HttpHead&)>& explain, const std::filesystem::path& folder,
           const std::string& label)
      : client_(client),
        file_(file),
        explain_(explain),
        label_(label),
        part_(folder, file),
        retry_(settings),
        joined_(part_.bytes() > 0) {
    if (joined_) log(LogLevel::info, "{}: going on after {}", label_, size_text(part_.bytes()));
  }

  FetchedFile run() {
    while (true) {
      if (fetch_all()) return {.unchanged = true};
      if (part_.bytes() > slow_to_hash) log(LogLevel::info, "{}: checking its SHA-256", label_);
      const std::string found = sha256_file(part_.path().string());
      if (file_.sha256.empty() || found == file_.sha256) {
        part_.checkpoint();
        return {.size = part_.bytes(), .sha256 = found, .etag = part_.etag()};
      }
      if (!joined_) refuse_hash(found);
      start_over("its parts, fetched at different times, do not have the SHA-256 that the source gives");
    }
  }

 private:
  bool whole() const { return part_.size() && part_.bytes() == *part_.size(); }

  /// Until every byte is there; true if the server says that nothing has changed.
  bool fetch_all() {
    try {
      while (!whole()) {
        const uint64_t before = part_.bytes();
        const HttpResult result = attempt();
        finish_progress();
        if (result.head.status == 304 && !file_.known_etag.empty()) return true;
        if (whole()) break;
        part_.checkpoint();
        if (part_.bytes() >= before + worth_noting) retry_.progressed();
        after_attempt(result);
      }
      return false;
    } catch (const Error&) {
      finish_progress();
      if (!discarded_) part_.checkpoint();
      throw;
    }
  }

  HttpResult attempt() {
    HttpRequest request{file_.url, {}, file_.token};
    const bool can_resume = !file_.sha256.empty() || !part_.etag().empty();
    if (part_.bytes() > 0 && !can_resume)
      start_over("the server gives nothing by which to know the file again");
    joined_ = part_.bytes() > 0;
    if (joined_) {
      request.headers.push_back(fmt::format("Range: bytes={}-", part_.bytes()));
      if (file_.sha256.empty()) request.headers.push_back("If-Range: " + part_.etag());
    } else if (!file_.known_etag.empty()) {
      request.headers.push_back("If-None-Match: " + file_.known_etag);
    }
    const HttpSink sink{.begin = [this](const HttpHead& head) { begin(head); },
                        .data = [this](std::span<const std::byte> bytes) { take(bytes); }};
    try {
      return client_.get(request, sink);
    } catch (const ContentChanged&) {
      start_over("the file on the server has changed");
      return {.failure = "the file has changed on the server", .may_pass = true};
    }
  }

  /// What to do about an attempt that did not bring the end: try again, or throw.
  void after_attempt(HttpResult result) {
    const int status = result.head.status;
    if (result.failure.empty() && status == 416 && part_.bytes() > 0) {
      start_over("the server has no such range");
    } else if (result.failure.empty() && status >= 200 && status < 300) {
      result.failure =
          fmt::format("the connection ended after {} of {} bytes", part_.bytes(), part_.size().value_or(0));
      result.may_pass = true;
    } else if (result.failure.empty() && !status_may_pass(status)) {
      throw explain_(result.head);
    } else if (!result.failure.empty() && !result.may_pass) {
      throw Error(ErrorCode::io, fmt::format("{}: {}", label_, result.failure), hint_for_failure(result));
    }
    retry_.wait(label_, result);
  }

  /// Bounded: a server whose file is another one each time would keep us for ever.
  void start_over(std::string_view why) {
    if (++restarts_ > max_restarts)
      throw Error(ErrorCode::io, fmt::format("{}: {}, for the {}th time", label_, why, restarts_),
                  "this server cannot serve the file whole; try later, or another source");
    log(LogLevel::info, "{}: {}; starting over", label_, why);
    part_.restart();
    joined_ = false;
  }

  void begin(const HttpHead& head) {
    check_linked_sha256(head);
    if (head.status == 206)
      begin_rest(head);
    else if (head.status == 200)
      begin_whole(head);
    else
      throw Error(ErrorCode::io, fmt::format("{}: the server answers with status {}", label_, head.status),
                  "expected 200 or 206; try another network");
    if (!part_.size())
      throw Error(ErrorCode::io, fmt::format("{}: the server does not say how large the file is", label_),
                  "fetch it with another program and give its path");
    check_disk_space(part_.path().parent_path(), *part_.size() - part_.bytes() + disk_margin, label_);
    progress_.emplace(Progress::on_stderr(label_, *part_.size(), part_.bytes()));
  }

  /// The hub says in its redirect which content it is about to serve. Better now than after gigabytes.
  void check_linked_sha256(const HttpHead& head) {
    const auto found = head.first_headers.find("x-linked-etag");
    if (file_.sha256.empty() || found == head.first_headers.end()) return;
    std::string linked = found->second;
    linked.erase(std::remove(linked.begin(), linked.end(), '"'), linked.end());
    if (linked.size() == 64 && linked != file_.sha256)
      throw Error(ErrorCode::io,
                  fmt::format("{}: the server is about to send SHA-256 {}, its list says {}", label_,
                              gguf::printable(linked), file_.sha256),
                  "the file was replaced a moment ago: give the same command again");
  }

  void begin_whole(const HttpHead& head) {
    if (part_.bytes() > 0) start_over("the server sends the file from its beginning");
    const auto length = number(head.header("content-length"));
    if (length && file_.size && *length != *file_.size)
      throw Error(ErrorCode::io,
                  fmt::format("{}: the server sends {} bytes, expected {}", label_, *length, *file_.size),
                  "what it sends is another file, or an error page; try again later");
    part_.describe(length, strong_etag(head));
  }

  void begin_rest(const HttpHead& head) {
    const auto range = parse_content_range(head.header("content-range"));
    if (!range || range->first != part_.bytes())
      throw Error(ErrorCode::io,
                  fmt::format("{}: asked for what follows byte {}, the server sends `{}`", label_,
                              part_.bytes(), gguf::printable(head.header("content-range"))),
                  "the server, or a proxy before it, breaks the rules of HTTP; try another network");
    const std::string etag = strong_etag(head);
    const bool other_etag = file_.sha256.empty() && !etag.empty() && etag != part_.etag();
    if (range->total != part_.size() || other_etag) throw ContentChanged();
    if (!etag.empty()) part_.describe(std::nullopt, etag);
  }

  void take(std::span<const std::byte> bytes) {
    if (part_.bytes() + bytes.size() > *part_.size())
      throw discard(Error(
          ErrorCode::io,
          fmt::format("{}: the server sends more than the {} bytes it announced", label_, *part_.size()),
          "what it sends is not the file that it lists; try again later"));
    if (part_.bytes() < magic.size()) check_magic(bytes);
    part_.append(bytes);
    progress_->update(part_.bytes());
  }

  static constexpr std::string_view magic = "GGUF";

  /// An error page with status 200 ends here, before it costs time.
  void check_magic(std::span<const std::byte> bytes) {
    const size_t at = size_t(part_.bytes());
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const size_t count = std::min(text.size(), magic.size() - at);
    if (text.substr(0, count) == magic.substr(at, count)) return;
    try {
      if (at == 0) gguf::File::parse(bytes, label_);  // says best what it is instead
    } catch (const Error& error) {
      throw discard(error);
    }
    throw discard(Error(ErrorCode::bad_model, fmt::format("{}: not a GGUF file", label_),
                        "choose another file or source"));
  }

  /// For content that must not be built upon.
  Error discard(Error error) {
    part_.discard();
    discarded_ = true;
    return error;
  }

  [[noreturn]] void refuse_hash(const std::string& found) {
    throw discard(
        Error(ErrorCode::io, fmt::format("{} has SHA-256 {}, expected {}", label_, found, file_.sha256),
              "the content was damaged or replaced on its way, and was not kept; try again, or another "
              "network"));
  }

  void finish_progress() {
    if (progress_) progress_->finish();
    progress_.reset();
  }

  HttpClient& client_;
  const RemoteFile& file_;
  const std::function<Error(const HttpHead&)>& explain_;
  const std::string& label_;
  PartialFile part_;
  Retry retry_;
  std::optional<Progress> progress_;
  bool joined_;             ///< the bytes come from more than one answer
  bool discarded_ = false;  ///< nothing is left to build upon
  int restarts_ = 0;
};

}  // namespace

FetchedFile fetch_file(HttpClient& client, const Settings& settings, const RemoteFile& file,
                       const std::function<Error(const HttpHead&)>& explain,
                       const std::filesystem::path& folder, const std::string& label) {
  return Transfer(client, settings, file, explain, folder, label).run();
}

}  // namespace minfer::download
