#include "download/pull.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/log.h"
#include "base/sha256.h"
#include "download/fetch_file.h"
#include "download/files.h"
#include "download/records.h"
#include "download/source.h"
#include "gguf/gguf.h"

namespace minfer::download {
namespace {

namespace fs = std::filesystem;

RemoteModel ask_source(const std::string& text, HttpClient& client, const Cache& cache,
                       const Settings& settings) {
  try {
    return std::visit([&](const auto& source) { return resolve(source, client, settings); },
                      parse_source(text));
  } catch (const Error& error) {
    if (error.code != ErrorCode::io || settings.cancelled()) throw;
    std::optional<CachedModel> cached;
    try {
      cached = cache.find(text);
    } catch (const Error&) {  // ambiguous: no single copy to point at
    }
    if (!cached) throw;
    throw Error(error.code, error.what(),
                fmt::format("{}; the copy in the cache, fetched {}, can still be used: minfer run {} PROMPT",
                            error.hint, cached->fetched.substr(0, 10), text));
  }
}

/// Whether the cached files are those that the source has now, as far as it says.
bool is_current(const CachedModel& cached, const RemoteModel& remote) {
  if (cached.files.size() != remote.files.size()) return false;
  for (size_t i = 0; i < cached.files.size(); ++i) {
    const CachedFile& have = cached.files[i];
    const RemoteFile& want = remote.files[i];
    if (want.sha256.empty() || have.name != want.name || have.sha256 != want.sha256) return false;
  }
  return true;
}

/// Whether the cached files are still what was once fetched.
bool is_unaltered(const CachedModel& cached) {
  if (cached.bytes() > slow_to_hash) log(LogLevel::info, "checking the copy in the cache");
  for (const CachedFile& file : cached.files)
    if (sha256_file((cached.folder / file.name).string()) != file.sha256) {
      log(LogLevel::warning, "{} was altered since it was fetched; fetching it again",
          (cached.folder / file.name).string());
      return false;
    }
  return true;
}

/// Names must differ, since they meet in one folder.
void check_names(const RemoteModel& remote) {
  std::set<std::string> names;
  for (const RemoteFile& file : remote.files)
    if (!names.insert(file.name).second)
      throw Error(ErrorCode::io, fmt::format("{}: two of its files are called {}", remote.source, file.name),
                  "choose another file of that source");
}

/// Makes the folder and says in it what it is for, so that `list` can show it and space is checked in
/// advance.
void prepare(const fs::path& folder, const RemoteModel& remote) {
  make_folder(folder);
  uint64_t total = 0, present = 0;
  for (const RemoteFile& file : remote.files) {
    std::error_code absent;
    const uintmax_t there = fs::file_size(folder / file.name, absent);
    total += file.size.value_or(0);
    if (!absent) present += there;
  }
  write_unfinished_record(folder / "model.json", {remote.source, total});
  if (total > present) check_disk_space(folder, total - present, remote.source);
}

std::string label_of(const RemoteModel& remote, size_t i) {
  if (remote.files.size() == 1) return remote.files[0].name;
  return fmt::format("{} ({} of {})", remote.files[i].name, i + 1, remote.files.size());
}

/// The last check before the model gets its name. A well-formed file that no code here can run yet is kept:
/// its bytes are right, and a later version may run it.
void check_model(const fs::path& first, const RemoteModel& remote, Cache& cache) {
  try {
    gguf::File::open(first.string());
  } catch (const Error& error) {
    if (error.code == ErrorCode::unsupported) {
      log(LogLevel::warning, "this version cannot run the model: {}", error.what());
      return;
    }
    cache.remove_partial(remote.source);
    throw Error(
        error.code,
        fmt::format("{} is damaged where it is published, and was not kept: {}", remote.source, error.what()),
        error.hint.empty() ? "choose another file or source" : error.hint);
  }
}

/// What a pull removes in the folder of a model that had other files before: they would be moved along.
void remove_strangers(const fs::path& folder, const RemoteModel& remote) {
  std::set<std::string> known = {"model.json"};
  for (const RemoteFile& file : remote.files) known.insert({file.name, file.name + ".json"});
  std::error_code ignored;
  std::vector<fs::path> strangers;
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (!known.count(entry.path().filename().string())) strangers.push_back(entry.path());
  for (const fs::path& path : strangers) fs::remove_all(path, ignored);
}

}  // namespace

CachedModel pull(const std::string& text, Cache& cache, const Settings& settings) {
  HttpClient client(settings);
  RemoteModel remote = ask_source(text, client, cache, settings);
  check_names(remote);
  make_folder(cache.folder() / "locks");
  const FileLock lock(cache.lock_path(remote.source), remote.source, settings.cancel);

  std::optional<CachedModel> cached = cache.by_source(remote.source);
  const bool intact = cached && is_unaltered(*cached);
  if (intact && is_current(*cached, remote)) {
    log(LogLevel::info, "{} is in the cache, unchanged", remote.source);
    return *cached;
  }
  // Only for one file: of a split model, the unchanged parts would have to be carried over.
  if (intact && cached->files.size() == 1 && remote.files.size() == 1 && remote.files[0].sha256.empty())
    remote.files[0].known_etag = cached->files[0].etag;

  const fs::path folder = cache.partial_folder(remote.source);
  prepare(folder, remote);
  remove_strangers(folder, remote);
  std::vector<CachedFile> files;
  for (size_t i = 0; i < remote.files.size(); ++i) {
    const FetchedFile file =
        fetch_file(client, settings, remote.files[i], remote.explain, folder, label_of(remote, i));
    if (file.unchanged) {
      cache.remove_partial(remote.source);
      log(LogLevel::info, "{} is in the cache, unchanged", remote.source);
      return *cached;
    }
    files.push_back({remote.files[i].name, file.size, file.sha256, file.etag});
  }
  check_model(folder / files[0].name, remote, cache);
  const CachedModel model = cache.install(remote.source, files);
  const bool hashed = std::all_of(remote.files.begin(), remote.files.end(),
                                  [](const RemoteFile& f) { return !f.sha256.empty(); });
  log(LogLevel::info, "fetched {}, {}, {} checked", model.name, size_text(model.bytes()),
      hashed ? "SHA-256" : "size and form");
  return model;
}

}  // namespace minfer::download
