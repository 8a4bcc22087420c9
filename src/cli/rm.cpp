#include <fmt/format.h>

#include "base/error.h"
#include "base/log.h"
#include "cli/commands.h"
#include "cli/model_store.h"
#include "cli/output.h"
#include "download/cache.h"
#include "download/files.h"
#include "gguf/printable.h"

namespace minfer::cli {
namespace {

using download::Cache;
using download::CachedModel;

/// The fetching of `source` that was broken off, if there is one.
bool remove_unfinished(Cache& cache, const std::string& source) {
  for (const auto& model : cache.unfinished()) {
    if (model.source != source) continue;
    const download::FileLock lock(cache.lock_path(source), source);
    cache.remove_partial(source);
    log(LogLevel::info, "removed what had been fetched of {}, {}", gguf::printable(source),
        download::size_text(model.bytes));
    return true;
  }
  return false;
}

}  // namespace

int remove(const RemoveOptions& options) {
  Cache cache(cache_folder());
  const std::string wanted = options.model == "default" ? default_model().name : options.model;
  const std::optional<CachedModel> model = cache.find(wanted);
  if (model && model->source.empty()) {
    cache.remove(*model);
  } else if (model) {
    const download::FileLock lock(cache.lock_path(model->source), model->source);
    cache.remove(*model);
    remove_unfinished(cache, model->source);
  }
  if (model) {
    log(LogLevel::info, "removed {}, {}",
        gguf::printable(model->source.empty() ? model->name : model->source),
        download::size_text(model->bytes()));
    return exit_ok;
  }
  if (remove_unfinished(cache, wanted)) return exit_ok;
  throw Error(ErrorCode::bad_request,
              fmt::format("there is no model `{}` in the cache", gguf::printable(wanted)),
              "`minfer list` shows the names; files elsewhere are not minfer's to remove");
}

}  // namespace minfer::cli
