#pragma once
#include <atomic>
#include <chrono>
#include <string>

namespace minfer::download {

/// How long to be patient with a server. Read from the environment once per pull.
struct Settings {
  int stall_seconds = 30;  ///< MINFER_DOWNLOAD_STALL_SECONDS: no data for so long is a failure
  int retries = 5;         ///< MINFER_DOWNLOAD_RETRIES: after failures that may pass
  std::chrono::milliseconds backoff{
      1000};  ///< MINFER_DOWNLOAD_BACKOFF_MS: before the first retry, then doubled
  std::string hub_url = "https://huggingface.co";         ///< HF_ENDPOINT
  std::string ollama_url = "https://registry.ollama.ai";  ///< MINFER_OLLAMA_URL
  std::string hub_token;                                  ///< HF_TOKEN; goes to hub_url's own host only
  const std::atomic<bool>* cancel = nullptr;  ///< set by a signal handler; ends the pull soon, resumable

  bool cancelled() const { return cancel && cancel->load(); }
};

/// Throws Error{bad_request} for a number out of range, a base URL that is none, or a token that cannot stand
/// in a header. Warns where a token is left unsent because hub_url is plain HTTP to another machine.
Settings settings_from_environment();

}  // namespace minfer::download
