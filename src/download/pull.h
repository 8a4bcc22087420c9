#pragma once
#include <filesystem>
#include <string>

#include "download/cache.h"
#include "download/settings.h"

namespace minfer::download {

/// Fetches the model that `text` names (see source.h) into the cache, or finds that the cache has it as its
/// source has it now. Checked before it is put in place: the size and SHA-256 of every file, and that our own
/// reader opens the model. Safe between processes. Throws Error; what has arrived stays for the next call.
CachedModel pull(const std::string& text, Cache& cache, const Settings& settings);

}  // namespace minfer::download
