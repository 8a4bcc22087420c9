#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/log.h"
#include "cli/commands.h"
#include "cli/json_text.h"
#include "cli/model_store.h"
#include "cli/output.h"
#include "download/cache.h"
#include "download/files.h"
#include "gguf/printable.h"

namespace minfer::cli {
namespace {

using download::CachedModel;
using download::UnfinishedModel;

std::string source_text(const CachedModel& model) {
  if (!model.source.empty()) return gguf::printable(model.source);
  return model.name == default_model().name ? "default" : "-";
}

std::string table(const std::vector<CachedModel>& models) {
  size_t name_width = 4;
  for (const CachedModel& model : models)
    name_width = std::max(name_width, gguf::printable(model.name).size());
  std::string text = fmt::format("{:<{}}  {:>8}  {:<10}  SOURCE\n", "NAME", name_width, "SIZE", "FETCHED");
  for (const CachedModel& model : models)
    text += fmt::format("{:<{}}  {:>8}  {:<10}  {}\n", gguf::printable(model.name), name_width,
                        download::size_text(model.bytes()), model.fetched.substr(0, 10), source_text(model));
  return text;
}

std::string unfinished_text(const UnfinishedModel& model) {
  const std::string of = model.total == 0 ? std::string() : " of " + download::size_text(model.total);
  return fmt::format("unfinished: {}{}; `minfer pull {}` goes on, `minfer rm {}` drops it",
                     download::size_text(model.bytes), of, gguf::printable(model.source),
                     gguf::printable(model.source));
}

std::string json_text(const std::vector<CachedModel>& models,
                      const std::vector<UnfinishedModel>& unfinished) {
  nlohmann::ordered_json json = {{"models", nlohmann::ordered_json::array()},
                                 {"unfinished", nlohmann::ordered_json::array()}};
  for (const CachedModel& model : models)
    json["models"].push_back({{"name", model.name},
                              {"source", model.source},
                              {"bytes", model.bytes()},
                              {"fetched", model.fetched},
                              {"path", model.path().string()}});
  for (const UnfinishedModel& model : unfinished)
    json["unfinished"].push_back({{"source", model.source}, {"bytes", model.bytes}, {"total", model.total}});
  return json_line(json);
}

}  // namespace

int list(const ListOptions& options) {
  const download::Cache cache(cache_folder());
  const std::vector<CachedModel> models = cache.models();
  const std::vector<UnfinishedModel> unfinished = cache.unfinished();
  if (options.json) {
    write_out(json_text(models, unfinished));
    return exit_ok;
  }
  if (models.empty())
    log(LogLevel::info, "no models in {}; `minfer pull default` fetches one", cache.folder().string());
  else
    write_out(table(models));
  for (const UnfinishedModel& model : unfinished) log(LogLevel::info, "{}", unfinished_text(model));
  return exit_ok;
}

}  // namespace minfer::cli
