#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "download/remote.h"
#include "download/settings.h"

namespace minfer::download {

/// hf:OWNER/REPO[:FILE]. `file` is a path, a file name, or a quantisation; empty: the preferred one.
struct HubSource {
  std::string repository;  ///< OWNER/REPO
  std::string file;
};
/// ollama:[NAMESPACE/]NAME[:TAG].
struct OllamaSource {
  std::string space = "library", name, tag = "latest";
  std::string full_name() const;  ///< as `list` shows it, tag included
};
/// https://HOST/PATH.gguf.
struct UrlSource {
  std::string url;
};
using Source = std::variant<HubSource, OllamaSource, UrlSource>;

/// Whether `text` begins as a source does: hf:, ollama:, http:// or https://.
bool is_source(std::string_view text);
/// Throws Error{bad_request} with the form that was expected.
Source parse_source(const std::string& text);

/// Asks the source which files the model has. Throws Error{io} or Error{bad_request}.
RemoteModel resolve(const HubSource& source, HttpClient& client, const Settings& settings);
RemoteModel resolve(const OllamaSource& source, HttpClient& client, const Settings& settings);
RemoteModel resolve(const UrlSource& source, HttpClient& client, const Settings& settings);

}  // namespace minfer::download
