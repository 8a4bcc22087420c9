#pragma once
#include <filesystem>
#include <string>

#include "download/remote.h"
#include "download/settings.h"

namespace minfer::download {

/// A file that is whole on the disk.
struct FetchedFile {
  bool unchanged =
      false;  ///< the server says that the copy in the cache is the current one; nothing was fetched
  uint64_t size = 0;
  std::string sha256;  ///< computed from the disk, and equal to the source's where that gives one
  std::string etag;    ///< strong, else empty
};

/// Fetches a file into `folder`, under its name, going on from what is there. Tries again after failures that
/// may pass. Returns when the whole file is on the disk and has the right size and SHA-256; otherwise throws
/// Error{io} (or what `explain` gives), leaving a part that the next call can build upon, or nothing if the
/// content was bad.
FetchedFile fetch_file(HttpClient& client, const Settings& settings, const RemoteFile& file,
                       const std::function<Error(const HttpHead&)>& explain,
                       const std::filesystem::path& folder, const std::string& label);

}  // namespace minfer::download
