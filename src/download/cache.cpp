#include "download/cache.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <span>

#include "base/log.h"
#include "base/sha256.h"
#include "download/choose.h"
#include "download/files.h"
#include "download/records.h"
#include "download/safe_path.h"
#include "download/source.h"
#include "gguf/printable.h"
#include "gguf/split_name.h"

namespace minfer::download {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view extension = ".gguf";

std::string sha256_text(const std::string& text) {
  Sha256 hash;
  hash.update(std::as_bytes(std::span(text)));
  return hash.hex();
}

/// A folder name for a full name: readable, and different for different names on every file system.
std::string key_of(const std::string& source) {
  std::string key;
  for (const char c : source.substr(0, 100)) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
    key += plain ? c : '_';
  }
  return key + "-" + sha256_text(source).substr(0, 12);
}

std::string version_of(const std::vector<CachedFile>& files) {
  std::string text;
  for (const CachedFile& file : files) text += fmt::format("{}\n{}\n{}\n", file.name, file.size, file.sha256);
  return sha256_text(text).substr(0, 12);
}

std::string name_of(const std::string& first_file) {
  const auto split = gguf::parse_split_name(first_file);
  return split ? split->prefix : first_file.substr(0, first_file.size() - extension.size());
}

std::string utc_text(std::time_t time) { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(time)); }

std::string file_time(const fs::path& path) {
  std::error_code unknown;
  const auto time = fs::last_write_time(path, unknown);
  if (unknown) return {};
  // C++20's clock_cast is not in every standard library yet.
  const auto age = fs::file_time_type::clock::now() - time;
  return utc_text(std::time(nullptr) - std::chrono::duration_cast<std::chrono::seconds>(age).count());
}

/// The entries of a folder by name; none if it is not there.
std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> paths;
  std::error_code none;
  for (fs::directory_iterator at(folder, none), end; !none && at != end; at.increment(none))
    paths.push_back(at->path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

/// Models that lie in models/ itself.
std::vector<CachedModel> loose_models(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const fs::path& path : entries_of(folder))
    if (path.extension() == extension && fs::is_regular_file(path, ignored))
      names.push_back(path.filename().string());
  std::vector<CachedModel> models;
  for (const Candidate& candidate : gguf_candidates(names)) {
    CachedModel model{
        .name = name_of(candidate.name), .fetched = file_time(folder / candidate.files[0]), .folder = folder};
    for (const std::string& name : candidate.files)
      model.files.push_back({.name = name, .size = fs::file_size(folder / name, ignored)});
    models.push_back(std::move(model));
  }
  return models;
}

/// The repository of a full name hf:OWNER/REPO:PATH and the path; nothing for others.
std::optional<std::pair<std::string, std::string>> hub_name(const std::string& source) {
  if (!source.starts_with("hf:")) return std::nullopt;
  const size_t colon = source.find(':', 3);
  if (colon == source.npos) return std::nullopt;
  return std::pair(source.substr(3, colon - 3), source.substr(colon + 1));
}

/// The full name that a request for a model leads to, as far as that is known without asking its source;
/// empty if the cache has nothing that fits. Throws Error{bad_request} if several models fit.
std::string full_name(const Source& source, const std::vector<CachedModel>& models) {
  if (const auto* ollama = std::get_if<OllamaSource>(&source)) return ollama->full_name();
  if (const auto* url = std::get_if<UrlSource>(&source)) {
    const std::string address = parse_url(url->url, "the address").without_query;
    const auto split = gguf::parse_split_name(address);
    return split ? split->path_of(1) : address;
  }
  const auto& hub = std::get<HubSource>(source);
  std::vector<std::string> paths;
  for (const CachedModel& model : models) {
    const auto name = hub_name(model.source);
    if (name && name->first == hub.repository) paths.push_back(name->second);
  }
  std::vector<Candidate> candidates = gguf_candidates(paths);
  for (Candidate& candidate : candidates) candidate.complete = true;  // a record names part 1 only
  if (fitting(candidates, hub.file).empty()) return {};
  return fmt::format("hf:{}:{}", hub.repository,
                     choose(candidates, hub.file, fmt::format("the cache of hf:{}", hub.repository)).name);
}

}  // namespace

uint64_t CachedModel::bytes() const {
  uint64_t sum = 0;
  for (const CachedFile& file : files) sum += file.size;
  return sum;
}

fs::path Cache::model_folder(const std::string& source) const { return folder_ / "models" / key_of(source); }
fs::path Cache::partial_folder(const std::string& source) const {
  return folder_ / "partial" / key_of(source);
}
fs::path Cache::lock_path(const std::string& source) const {
  return folder_ / "locks" / (key_of(source) + ".lock");
}

/// What a record says, if it says it well and the files are there in the right size.
std::optional<CachedModel> Cache::read_record(const fs::path& path) const {
  std::optional<ModelRecord> record = read_model_record(path);
  if (!record) return std::nullopt;
  CachedModel model;
  model.source = std::move(record->source);
  model.fetched = std::move(record->fetched);
  model.files = std::move(record->files);
  bool good = !model.files.empty();
  for (const CachedFile& file : model.files)
    good = good && is_safe_name(file.name) && file.name.ends_with(extension);
  if (good) {
    model.name = name_of(model.files[0].name);
    model.folder = path.parent_path() / version_of(model.files);
  }
  for (const CachedFile& file : model.files) {
    std::error_code absent;
    good = good && fs::file_size(model.folder / file.name, absent) == file.size && !absent;
  }
  if (good) return model;
  log(LogLevel::warning,
      "{} does not describe what lies beside it, so the model counts as absent; `minfer pull` mends it",
      path.string());
  return std::nullopt;
}

std::vector<CachedModel> Cache::models() const {
  std::vector<CachedModel> models = loose_models(folder_ / "models");
  for (const fs::path& path : entries_of(folder_ / "models"))
    if (auto model = read_record(path / "model.json")) models.push_back(std::move(*model));
  std::stable_sort(models.begin(), models.end(),
                   [](const CachedModel& a, const CachedModel& b) { return a.name < b.name; });
  return models;
}

std::vector<UnfinishedModel> Cache::unfinished() const {
  std::vector<UnfinishedModel> models;
  for (const fs::path& folder : entries_of(folder_ / "partial")) {
    std::optional<UnfinishedRecord> record = read_unfinished_record(folder / "model.json");
    if (!record) continue;
    UnfinishedModel model{std::move(record->source), 0, record->total};
    std::error_code absent;
    for (const fs::path& path : entries_of(folder))
      if (path.extension() == extension) model.bytes += fs::file_size(path, absent);
    models.push_back(std::move(model));
  }
  return models;
}

std::optional<CachedModel> Cache::by_source(const std::string& source) const {
  auto model = read_record(model_folder(source) / "model.json");
  return model && model->source == source ? model : std::nullopt;
}

std::optional<CachedModel> Cache::find(const std::string& text) const {
  const std::vector<CachedModel> all = models();
  if (is_source(text)) {
    const std::string source = full_name(parse_source(text), all);
    for (const CachedModel& model : all)
      if (!source.empty() && model.source == source) return model;
    return std::nullopt;
  }
  std::vector<CachedModel> found;
  for (const CachedModel& model : all)
    if (model.name == text || model.files[0].name == text) found.push_back(model);
  if (found.empty()) return std::nullopt;
  if (found.size() == 1) return found[0];
  std::string names;
  for (const CachedModel& model : found)
    names += (names.empty() ? "" : ", ") + (model.source.empty() ? model.path().string() : model.source);
  throw Error(ErrorCode::bad_request,
              fmt::format("{} cached models are called `{}`", found.size(), gguf::printable(text)),
              fmt::format("use the full name: {}", names));
}

CachedModel Cache::install(const std::string& source, const std::vector<CachedFile>& files) {
  const fs::path home = model_folder(source), version = home / version_of(files);
  make_folder(home);
  std::error_code ignored;
  fs::remove_all(version, ignored);  // left by a process that died before the record
  const fs::path partial = partial_folder(source);
  sync_folder(partial);
  move_to(partial, version);
  sync_folder(home);

  write_model_record(home / "model.json", {source, utc_text(std::time(nullptr)), files});
  sync_folder(home.parent_path());

  for (const fs::path& path : entries_of(version))
    if (path.extension() != extension) fs::remove(path, ignored);  // the records of the parts' downloads
  for (const fs::path& path : entries_of(home))
    if (path != version && path.filename() != "model.json") fs::remove_all(path, ignored);  // older versions
  auto model = by_source(source);
  MINFER_CHECK(model, "the record was just written");
  return *model;
}

void Cache::remove(const CachedModel& model) {
  std::error_code failed;
  if (model.source.empty()) {
    for (const CachedFile& file : model.files)
      if (!fs::remove(model.folder / file.name, failed) && failed) break;
  } else {
    const fs::path home = model_folder(model.source);
    fs::remove(home / "model.json", failed);
    if (!failed) fs::remove_all(home, failed);
  }
  errno = failed.value();
  if (failed) throw file_error("removing", model.path());
}

void Cache::remove_partial(const std::string& source) {
  std::error_code failed;
  fs::remove_all(partial_folder(source), failed);
  errno = failed.value();
  if (failed) throw file_error("removing", partial_folder(source));
}

}  // namespace minfer::download
