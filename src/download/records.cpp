#include "download/records.h"

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "download/files.h"
#include "download/json_fields.h"

namespace minfer::download {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

}  // namespace

std::optional<ModelRecord> read_model_record(const fs::path& path) {
  const std::string text = read_small(path);
  if (text.empty()) return std::nullopt;
  try {
    const Json json = parse_json(text, path.string());
    ModelRecord record{json.at("source").get<std::string>(), json.at("fetched").get<std::string>(), {}};
    for (const Json& file : json.at("files"))
      record.files.push_back({file.at("name").get<std::string>(), size_field(file, "size"),
                              file.at("sha256").get<std::string>(), file.at("etag").get<std::string>()});
    return record;
  } catch (const std::exception&) {
    return ModelRecord{};
  }
}

void write_model_record(const fs::path& path, const ModelRecord& record) {
  Json json = {{"source", record.source}, {"fetched", record.fetched}, {"files", Json::array()}};
  for (const CachedFile& file : record.files)
    json["files"].push_back(
        {{"name", file.name}, {"size", file.size}, {"sha256", file.sha256}, {"etag", file.etag}});
  write_whole(path, json.dump(2) + "\n");
}

std::optional<UnfinishedRecord> read_unfinished_record(const fs::path& path) {
  const std::string text = read_small(path);
  if (text.empty()) return std::nullopt;
  try {
    const Json json = parse_json(text, path.string());
    return UnfinishedRecord{json.at("source").get<std::string>(), size_field(json, "total")};
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

void write_unfinished_record(const fs::path& path, const UnfinishedRecord& record) {
  write_whole(path, Json{{"source", record.source}, {"total", record.total}}.dump() + "\n");
}

PartialRecord read_partial_record(const fs::path& path) {
  const std::string text = read_small(path);
  if (text.empty()) return {};
  try {
    const Json json = parse_json(text, path.string());
    PartialRecord record{size_field(json, "bytes"), std::nullopt, json.at("sha256").get<std::string>(),
                         json.at("etag").get<std::string>()};
    if (!json.at("size").is_null()) record.size = size_field(json, "size");
    return record;
  } catch (const std::exception&) {
    return {};
  }
}

void write_partial_record(const fs::path& path, const PartialRecord& record) {
  const Json json = {{"bytes", record.bytes},
                     {"size", record.size ? Json(*record.size) : Json()},
                     {"sha256", record.sha256},
                     {"etag", record.etag}};
  write_whole(path, json.dump() + "\n");
}

}  // namespace minfer::download
