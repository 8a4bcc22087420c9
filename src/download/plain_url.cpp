// A .gguf file anywhere on the web. No list and no SHA-256: size, form and the server's ETag are all there
// is.
#include <fmt/format.h>

#include "download/retry.h"
#include "download/source.h"
#include "gguf/split_name.h"

namespace minfer::download {
namespace {

constexpr int max_parts = 1000;

Error url_error(const HttpHead& head, const std::string& url) {
  const std::string what = fmt::format("{}: {}", url, describe_failure({.head = head}));
  if (head.status == 401 || head.status == 403)
    return Error(ErrorCode::io, what,
                 "the server wants to know who asks, and no token is ever sent to such an address; for the "
                 "Hugging Face "
                 "hub write hf:OWNER/REPO:FILE");
  return Error(ErrorCode::io, what, "check the address in a browser");
}

}  // namespace

RemoteModel resolve(const UrlSource& source, HttpClient&, const Settings&) {
  const Url url = parse_url(source.url, "the address");
  const std::string query = source.url.substr(std::min(source.url.find_first_of("?#"), source.url.size()));
  RemoteModel model{.source = url.without_query};
  model.explain = [name = url.without_query](const HttpHead& head) { return url_error(head, name); };
  const auto add = [&](const std::string& address) {
    model.files.push_back({.name = unescape(address.substr(address.rfind('/') + 1)), .url = address + query});
  };
  const auto split = gguf::parse_split_name(url.without_query);
  if (split && split->count > max_parts)
    throw Error(ErrorCode::bad_request,
                fmt::format("{}: {} parts, expected at most {}", source.url, split->count, max_parts));
  if (!split) add(url.without_query);
  for (int number = 1; split && number <= split->count; ++number) add(split->path_of(number));
  if (split) model.source = split->path_of(1);
  return model;
}

}  // namespace minfer::download
