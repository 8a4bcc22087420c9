#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdlib>

#include "base/error.h"
#include "base/log.h"
#include "graph/stages.h"

namespace minfer {
namespace {

constexpr size_t mib = size_t(1) << 20;

bool has_own_buffer(const Node& node) {
  return !node.dead && !std::holds_alternative<KvStore>(node.op) && !std::holds_alternative<KvLoad>(node.op);
}

/// Ops that may write over their first source.
bool may_alias(const Op& op) {
  return std::holds_alternative<Silu>(op) || std::holds_alternative<Rope>(op) ||
         std::holds_alternative<QkvBiasRopeStore>(op);
}

/// The source whose buffer `node` takes over: it must be its only reader, on the same backend, and nobody
/// else's value.
std::optional<NodeId> alias_source(const Graph& graph, const Node& node, const std::vector<int>& readers) {
  if (!may_alias(node.op)) return std::nullopt;
  const Node& source = graph.nodes[size_t(node.sources[0])];
  const bool kept = std::find(graph.outputs.begin(), graph.outputs.end(), source.id) != graph.outputs.end() ||
                    std::holds_alternative<Input>(source.op);
  if (kept || readers[size_t(source.id)] != 1 || source.backend != node.backend || !has_own_buffer(source))
    return std::nullopt;
  if (source.desc.bytes() != node.desc.bytes()) return std::nullopt;
  return source.id;
}

}  // namespace

size_t size_class(size_t bytes) {
  constexpr size_t step = 16 * 1024;
  if (bytes <= step) return std::bit_ceil(std::max<size_t>(bytes, 64));
  return (bytes + step - 1) / step * step;
}

std::optional<size_t> memory_budget(const Backend& backend) {
  if (const char* text = std::getenv("MINFER_GPU_MEM"); text && *text) {
    const std::string_view digits(text);
    size_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc{} || end != digits.data() + digits.size() || value > SIZE_MAX / mib)
      throw Error(ErrorCode::bad_request, fmt::format("MINFER_GPU_MEM={}: not a number of MiB", digits),
                  "give whole MiB, e.g. 4096");
    return value * mib;
  }
  const MemoryAnswer answer = backend.memory();
  if (answer.state == MemoryAnswer::State::reported) return answer.bytes / 4 * 3;
  return std::nullopt;
}

Allocator::Allocator(std::vector<Backend*> backends)
    : backends_(std::move(backends)), pooled_(backends_.size()) {
  for (const Backend* backend : backends_)
    if (const MemoryAnswer answer = backend->memory(); answer.state == MemoryAnswer::State::failed)
      log(LogLevel::warning, "{}: its memory could not be asked for ({}); no budget is applied",
          backend->name(), answer.error);
}

std::unique_ptr<Buffer> Allocator::allocate(int backend, size_t bytes) {
  Backend& device = *backends_[size_t(backend)];
  const size_t weights = device.weight_bytes(), pooled = pooled_[size_t(backend)];
  if (const auto budget = memory_budget(device); budget && weights + pooled + bytes > *budget) {
    const auto in_mib = [](size_t n) { return double(n) / double(mib); };
    throw Error(ErrorCode::out_of_memory,
                fmt::format("{}: {:.2f} MiB of weights, {:.2f} MiB in use and {:.2f} MiB asked for exceed "
                            "the budget of {:.2f} MiB",
                            device.name(), in_mib(weights), in_mib(pooled), in_mib(bytes), in_mib(*budget)),
                "use a smaller context or a smaller model, or raise MINFER_GPU_MEM");
  }
  auto buffer = device.allocate(bytes);
  pooled_[size_t(backend)] += bytes;
  return buffer;
}

std::unique_ptr<Buffer> Allocator::allocate_staging(int backend, size_t bytes) {
  return allocate(backend, size_class(bytes));
}

/// The smallest idle buffer that is large enough, the lowest number among equals; else a new one.
int Allocator::take_slot(int backend, size_t bytes, std::set<int>& idle) {
  const size_t wanted = size_class(bytes);
  int best = -1;
  for (int id : idle) {
    const Slot& slot = slots_[size_t(id)];
    if (slot.backend != backend || slot.bytes < wanted) continue;
    if (best < 0 || slot.bytes < slots_[size_t(best)].bytes) best = id;
  }
  if (best < 0) {
    slots_.push_back({backend, wanted, allocate(backend, wanted)});
    return int(slots_.size()) - 1;
  }
  idle.erase(best);
  return best;
}

void Allocator::place_kv(const Graph& graph) {
  for (const Node& node : graph.nodes) {
    const auto use = kv_use(node.op);
    if (!use || node.dead) continue;
    if (const auto known = kv_.find(use->layer); known != kv_.end()) {
      const KvEntry& entry = known->second;
      if (entry.kv_dim == use->kv_dim && entry.n_ctx == graph.n_ctx && entry.format == use->format &&
          entry.backend == node.backend)
        continue;
      throw Error(
          ErrorCode::bad_request,
          fmt::format("KV cache of layer {}: {} cells of {} {} values exist, {} of {} {} were asked for",
                      use->layer, entry.n_ctx, entry.kv_dim, name(entry.format), graph.n_ctx, use->kv_dim,
                      name(use->format)),
          "open a new session for another context size or format");
    }
    const size_t bytes = kv_row_bytes(use->format, use->kv_dim) * size_t(graph.n_ctx);
    auto k = allocate(node.backend, bytes);
    auto v = allocate(node.backend, bytes);
    kv_.emplace(use->layer,
                KvEntry{node.backend, use->format, use->kv_dim, graph.n_ctx, std::move(k), std::move(v)});
  }
}

std::vector<Placement> Allocator::place(const Graph& graph) {
  place_kv(graph);
  std::vector<Placement> placement(graph.nodes.size());
  std::vector<int> readers(graph.nodes.size());
  for (const Node& node : graph.nodes)
    if (!node.dead)
      for (NodeId source : node.sources) ++readers[size_t(source)];
  for (const Node& node : graph.nodes)
    if (!node.dead)
      if (const auto source = alias_source(graph, node, readers))
        placement[size_t(node.id)].alias_of = *source;

  const std::vector<NodeId> last = last_uses(graph, placement);
  std::set<int> idle;
  for (size_t i = 0; i < slots_.size(); ++i) idle.insert(int(i));
  std::vector<std::pair<NodeId, int>> busy;  // last use, slot
  for (const Node& node : graph.nodes) {
    Placement& place = placement[size_t(node.id)];
    if (!has_own_buffer(node)) continue;
    if (place.alias_of >= 0) {
      place.slot = placement[size_t(place.alias_of)].slot;
    } else {
      std::erase_if(busy, [&](const auto& entry) {
        return entry.first < node.id && (idle.insert(entry.second), true);
      });
      place.slot = take_slot(node.backend, node.desc.bytes(), idle);
      busy.emplace_back(last[size_t(node.id)], place.slot);
    }
    place.buffer = slots_[size_t(place.slot)].buffer.get();
  }
  return placement;
}

KvRegions Allocator::kv(int layer) const {
  const auto found = kv_.find(layer);
  return found == kv_.end() ? KvRegions{} : KvRegions{found->second.k.get(), found->second.v.get()};
}

size_t Allocator::pooled_bytes() const {
  size_t sum = 0;
  for (size_t bytes : pooled_) sum += bytes;
  return sum;
}

std::vector<NodeId> last_uses(const Graph& graph, const std::vector<Placement>& placement) {
  const NodeId end = NodeId(graph.nodes.size());
  std::vector<NodeId> last(graph.nodes.size());
  for (const Node& node : graph.nodes) {
    last[size_t(node.id)] = node.id;
    if (node.dead) continue;
    for (NodeId source : node.sources) last[size_t(source)] = node.id;
  }
  for (NodeId id : graph.inputs) last[size_t(id)] = end;
  for (NodeId id : graph.outputs) last[size_t(id)] = end;
  for (size_t i = graph.nodes.size(); i-- > 0;)  // backwards, so that chains of aliases reach their root
    if (const NodeId root = placement[i].alias_of; root >= 0)
      last[size_t(root)] = std::max(last[size_t(root)], last[i]);
  return last;
}

}  // namespace minfer
