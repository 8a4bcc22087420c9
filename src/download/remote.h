#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "download/http.h"

namespace minfer::download {

/// A file to be fetched, as its source describes it.
struct RemoteFile {
  std::string name;  ///< in the cache; a safe name
  std::string url;
  std::string token = {};  ///< for the origin of `url`
  std::optional<uint64_t> size = {};
  std::string sha256 = {};      ///< 64 lower-case hex digits; empty if the source gives none
  std::string known_etag = {};  ///< of the copy in the cache, if there is one and no sha256 tells more
};

/// A model to be fetched: all its parts, in order.
struct RemoteModel {
  std::string source;  ///< the full name: what `pull` takes and `list` shows
  std::vector<RemoteFile> files;
  /// What a status other than success means at this source, as an Error to throw.
  std::function<Error(const HttpHead&)> explain;
};

}  // namespace minfer::download
