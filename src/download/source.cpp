#include "download/source.h"

#include <fmt/format.h>

#include "download/safe_path.h"
#include "gguf/printable.h"

namespace minfer::download {
namespace {

constexpr std::string_view hub_prefix = "hf:", ollama_prefix = "ollama:";
constexpr std::string_view forms =
    "the forms are hf:OWNER/REPO[:FILE], ollama:[NAMESPACE/]NAME[:TAG], an https:// URL of a .gguf file, and "
    "`default`";

Error refuse(const std::string& text, std::string_view why) {
  return Error(ErrorCode::bad_request, fmt::format("`{}`: {}", gguf::printable(text), why),
               std::string(forms));
}

/// "a:b" into a and b; b is empty if there is no colon.
std::pair<std::string, std::string> split_at(const std::string& text, char separator) {
  const size_t at = text.find(separator);
  if (at == text.npos) return {text, ""};
  return {text.substr(0, at), text.substr(at + 1)};
}

HubSource parse_hub(const std::string& text) {
  const auto [repository, file] = split_at(text.substr(hub_prefix.size()), ':');
  const auto [owner, repo] = split_at(repository, '/');
  if (!is_plain_identifier(owner) || !is_plain_identifier(repo))
    throw refuse(text, "expected OWNER/REPO of letters, digits and -._");
  const bool colon_without_file = file.empty() && text.ends_with(':');
  if (colon_without_file || (!file.empty() && !is_safe_path(file)))
    throw refuse(text, "this is no file name");
  return {repository, file};
}

OllamaSource parse_ollama(const std::string& text) {
  OllamaSource source;
  const auto [path, tag] = split_at(text.substr(ollama_prefix.size()), ':');
  const size_t slash = path.find('/');
  source.name = slash == path.npos ? path : path.substr(slash + 1);
  if (slash != path.npos) source.space = path.substr(0, slash);
  if (!tag.empty() || text.ends_with(':')) source.tag = tag;
  for (const std::string* part : {&source.space, &source.name, &source.tag})
    if (!is_plain_identifier(*part)) throw refuse(text, "expected names of letters, digits and -._");
  return source;
}

UrlSource parse_web(const std::string& text) {
  const Url url = parse_url(text, "the address");
  const std::string name = unescape(url.path.substr(url.path.rfind('/') + 1));
  if (!name.ends_with(".gguf")) throw refuse(text, "the address of a file must end in .gguf");
  if (!is_safe_name(name)) throw refuse(text, "its last part is no file name that can be kept");
  return {text};
}

bool is_web(std::string_view text) { return text.starts_with("http://") || text.starts_with("https://"); }

}  // namespace

std::string OllamaSource::full_name() const {
  return fmt::format("ollama:{}{}:{}", space == "library" ? "" : space + "/", name, tag);
}

bool is_source(std::string_view text) {
  return text.starts_with(hub_prefix) || text.starts_with(ollama_prefix) || is_web(text);
}

Source parse_source(const std::string& text) {
  if (text.starts_with(hub_prefix)) return parse_hub(text);
  if (text.starts_with(ollama_prefix)) return parse_ollama(text);
  if (is_web(text)) return parse_web(text);
  throw refuse(text, "no source that is known");
}

}  // namespace minfer::download
