// Ollama's registry: a manifest names the layers of a model by their SHA-256, one of them the GGUF file.
#include <fmt/format.h>

#include "base/json.h"
#include "base/log.h"
#include "download/retry.h"
#include "download/source.h"

namespace minfer::download {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t max_manifest_bytes = 1 << 20;
constexpr std::string_view layer_type = "application/vnd.ollama.image.";

struct Layer {
  std::string kind;  ///< model, template, params, …
  std::string digest;
  uint64_t size = 0;
};

std::vector<Layer> layers_of(const Json& manifest) {
  std::vector<Layer> layers;
  for (const Json& json : manifest.at("layers")) {
    const std::string type = json.at("mediaType").get<std::string>();
    if (!type.starts_with(layer_type)) continue;
    Layer layer{type.substr(layer_type.size()), json.at("digest").get<std::string>(),
                json.at("size").get<uint64_t>()};
    constexpr std::string_view algorithm = "sha256:";
    if (!layer.digest.starts_with(algorithm)) throw std::invalid_argument("digest");
    layer.digest.erase(0, algorithm.size());
    const bool is_hex = layer.digest.find_first_not_of("0123456789abcdef") == std::string::npos;
    if (layer.digest.size() != 64 || !is_hex || layer.size > uint64_t(INT64_MAX))
      throw std::invalid_argument("digest");
    layers.push_back(std::move(layer));
  }
  return layers;
}

Error registry_error(const HttpHead& head, const std::string& name, const Settings& settings) {
  const std::string what = fmt::format("{}: {}", name, describe_failure({.head = head}));
  if (head.status == 404)
    return Error(ErrorCode::io, what, "there is no such model or tag; check NAME and TAG");
  if (head.status == 401 || head.status == 403)
    return Error(ErrorCode::io, what,
                 "there is no such model, or it is private, and only public ones can be fetched");
  return Error(ErrorCode::io, what, fmt::format("is {} an Ollama registry?", settings.ollama_url));
}

/// The one layer that is the model. What else belongs to it is either not needed or not supported.
Layer model_layer(const std::vector<Layer>& layers, const std::string& name) {
  const Layer* model = nullptr;
  for (const Layer& layer : layers) {
    if (layer.kind == "adapter")
      throw Error(ErrorCode::unsupported, fmt::format("{} changes its model by an adapter (LoRA)", name),
                  "minfer applies none; look for the same model with the adapter merged");
    if (layer.kind == "projector")
      log(LogLevel::warning, "{} has a part for images, which is left out: minfer reads text only", name);
    if (layer.kind != "model") continue;
    if (model)
      throw Error(ErrorCode::unsupported, fmt::format("{} holds more than one model layer", name),
                  "take the model from another source, e.g. hf:");
    model = &layer;
  }
  if (!model)
    throw Error(ErrorCode::unsupported, fmt::format("{} holds no GGUF model", name),
                "it is of a kind that Ollama itself runs elsewhere or in another format");
  return *model;
}

}  // namespace

RemoteModel resolve(const OllamaSource& source, HttpClient& client, const Settings& settings) {
  const std::string name = source.full_name();
  const std::string base = fmt::format("{}/v2/{}/{}", settings.ollama_url, source.space, source.name);
  const HttpRequest request{fmt::format("{}/manifests/{}", base, source.tag),
                            {"Accept: application/vnd.docker.distribution.manifest.v2+json"}};
  const std::string doing = fmt::format("reading the manifest of {}", name);
  const TextAnswer answer = get_text(client, settings, request, max_manifest_bytes, doing);
  if (answer.head.status != 200) throw registry_error(answer.head, name, settings);

  std::vector<Layer> layers;
  const Json manifest = parse_json(answer.text, doing + ": the answer", ErrorCode::io);
  try {
    layers = layers_of(manifest);
  } catch (const std::exception&) {
    throw Error(ErrorCode::io,
                fmt::format("{}: it has no layers with mediaType, size and SHA-256 digest", doing),
                fmt::format("is {} an Ollama registry?", settings.ollama_url));
  }
  const Layer layer = model_layer(layers, name);
  RemoteModel model{.source = name};
  model.explain = [name, &settings](const HttpHead& head) { return registry_error(head, name, settings); };
  model.files.push_back({.name = fmt::format("{}-{}.gguf", source.name, source.tag),
                         .url = fmt::format("{}/blobs/sha256:{}", base, layer.digest),
                         .size = layer.size,
                         .sha256 = layer.digest});
  return model;
}

}  // namespace minfer::download
