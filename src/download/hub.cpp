// Hugging Face's hub, and what serves the same interface (HF_ENDPOINT).
#include <fmt/format.h>

#include "base/json.h"
#include "base/log.h"
#include "download/choose.h"
#include "download/retry.h"
#include "download/safe_path.h"
#include "download/source.h"
#include "gguf/printable.h"

namespace minfer::download {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t max_list_bytes = 8 << 20;  // a page holds at most 1000 entries of some 300 bytes
constexpr int max_list_pages = 50;

/// A file of the repository.
struct Entry {
  std::string path;
  uint64_t size = 0;
  std::string sha256;  ///< of files in large file storage, as all models are; else empty
};

/// What a status means at the hub. It answers 401 for what does not exist as well, so as not to tell
/// strangers which private repositories there are.
Error hub_error(const HttpHead& head, const std::string& repository, const Settings& settings) {
  const std::string code = head.header("x-error-code");
  const std::string page = fmt::format("{}/{}", settings.hub_url, repository);
  const bool with_token = !settings.hub_token.empty();
  const std::string get_token = fmt::format(
      "make a token with read access at {}/settings/tokens and set HF_TOKEN to it", settings.hub_url);
  const std::string said = describe_failure({.head = head});
  if (head.status == 401 || head.status == 403) {
    if (code == "GatedRepo" || head.status == 403)
      return Error(
          ErrorCode::io, fmt::format("hf:{} is gated or private: {}", repository, said),
          with_token
              ? fmt::format("accept the model's conditions at {} with the account of your HF_TOKEN, which "
                            "must have read access",
                            page)
              : fmt::format("accept the model's conditions at {}, {}", page, get_token));
    return with_token
               ? Error(ErrorCode::io, fmt::format("hf:{}: {}", repository, said),
                       "there is no such repository, or your HF_TOKEN is not valid or may not read it")
               : Error(ErrorCode::io, fmt::format("hf:{}: {}", repository, said),
                       fmt::format("there is no such repository (check the spelling), or it is private: {}",
                                   get_token));
  }
  if (head.status == 404)
    return Error(ErrorCode::io, fmt::format("hf:{}: {}", repository, said),
                 code == "EntryNotFound" ? "the file was removed a moment ago; give the same command again"
                                         : "there is no such repository; check OWNER and REPO");
  return Error(ErrorCode::io, fmt::format("hf:{}: {}", repository, said),
               fmt::format("this is not what a hub answers; is {} one?", settings.hub_url));
}

/// The target of `Link: <URL>; rel="next"`; empty on the last page.
std::string next_page(const HttpHead& head) {
  const std::string link = head.header("link");
  const size_t open = link.find('<'), close = link.find('>');
  if (open == link.npos || close == link.npos || close < open) return {};
  return link.find("rel=\"next\"", close) == link.npos ? std::string()
                                                       : link.substr(open + 1, close - open - 1);
}

bool is_sha256(const std::string& text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == text.npos;
}

void add_entry(const Json& json, std::vector<Entry>& entries) {
  if (json.at("type").get<std::string>() != "file") return;
  Entry entry{json.at("path").get<std::string>(), json.at("size").get<uint64_t>(), ""};
  if (const auto lfs = json.find("lfs"); lfs != json.end() && lfs->is_object()) {
    entry.size = lfs->at("size").get<uint64_t>();
    entry.sha256 = lfs->at("oid").get<std::string>();
    if (!is_sha256(entry.sha256)) throw std::invalid_argument("oid");
  }
  if (entry.size > uint64_t(INT64_MAX)) throw std::invalid_argument("size");
  if (!entry.path.ends_with(".gguf")) return;
  if (is_safe_path(entry.path)) return entries.push_back(std::move(entry));
  log(LogLevel::warning, "the repository lists a file whose name cannot be kept, which is left out: {}",
      gguf::printable(entry.path));
}

std::vector<Entry> list_files(const HubSource& source, HttpClient& client, const Settings& settings) {
  const std::string doing = fmt::format("listing hf:{}", source.repository);
  const auto no_list = [&](std::string_view why) {
    return Error(ErrorCode::io, fmt::format("{}: {}", doing, why),
                 fmt::format("is {} a hub? HF_ENDPOINT names another one", settings.hub_url));
  };
  std::vector<Entry> entries;
  std::string url =
      fmt::format("{}/api/models/{}/tree/main?recursive=true", settings.hub_url, source.repository);
  const Url hub = parse_url(url, "HF_ENDPOINT");
  for (int page = 0; !url.empty(); ++page) {
    if (page == max_list_pages) throw no_list(fmt::format("the list has more than {} pages", max_list_pages));
    // The next page's address comes from the answer: the token goes there only if it is still the hub.
    const bool same_host = parse_url(url, "the list's next page").same_origin(hub);
    const TextAnswer answer = get_text(
        client, settings, {url, {}, same_host ? settings.hub_token : std::string()}, max_list_bytes, doing);
    if (answer.head.status != 200) throw hub_error(answer.head, source.repository, settings);
    const Json json = parse_json(answer.text, doing + ": the answer", ErrorCode::io);
    if (!json.is_array()) throw no_list("the answer is no list");
    try {
      for (const Json& entry : json) add_entry(entry, entries);
    } catch (const std::exception&) {
      throw no_list("the answer has an entry of another form than path, size and lfs.oid");
    }
    url = next_page(answer.head);
  }
  return entries;
}

const Entry& entry_of(const std::vector<Entry>& entries, const std::string& path) {
  for (const Entry& entry : entries)
    if (entry.path == path) return entry;
  MINFER_CHECK(false, "candidates are made from the entries");
}

}  // namespace

RemoteModel resolve(const HubSource& source, HttpClient& client, const Settings& settings) {
  const std::vector<Entry> entries = list_files(source, client, settings);
  std::vector<std::string> paths;
  for (const Entry& entry : entries) paths.push_back(entry.path);
  const std::vector<Candidate> candidates = gguf_candidates(paths);
  const Candidate& chosen = choose(candidates, source.file, "hf:" + source.repository);
  if (source.file.empty() && candidates.size() > 1)
    log(LogLevel::info, "no file was named; taking {} of {} (the order is in docs/models-and-cache.md)",
        gguf::printable(chosen.name), candidates.size());

  RemoteModel model;
  model.source = fmt::format("hf:{}:{}", source.repository, chosen.name);
  model.explain = [repository = source.repository, &settings](const HttpHead& head) {
    return hub_error(head, repository, settings);
  };
  for (const std::string& path : chosen.files) {
    const Entry& entry = entry_of(entries, path);
    if (entry.sha256.empty())
      log(LogLevel::warning, "the hub gives no SHA-256 for {}; only its size and form will be checked",
          gguf::printable(path));
    model.files.push_back(
        {.name = path.substr(path.rfind('/') + 1),
         .url = fmt::format("{}/{}/resolve/main/{}", settings.hub_url, source.repository, escape_path(path)),
         .token = settings.hub_token,
         .size = entry.size,
         .sha256 = entry.sha256});
  }
  return model;
}

}  // namespace minfer::download
