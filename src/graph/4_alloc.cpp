#include <fmt/format.h>

#include <cstdlib>

#include "base/error.h"
#include "base/log.h"
#include "graph/allocator.h"
#include "graph/node_rules.h"

/// Stage 4: a memory plan becomes buffers, within each device's budget.
namespace minfer {
namespace {

constexpr size_t mib = size_t(1) << 20;

double in_mib(size_t bytes) { return double(bytes) / double(mib); }

/// MINFER_GPU_MEM in bytes, if it is set.
std::optional<size_t> budget_from_environment() {
  const char* text = std::getenv("MINFER_GPU_MEM");
  if (!text || !*text) return std::nullopt;
  size_t value = 0;
  for (const char* c = text; *c; ++c) {
    if (*c < '0' || *c > '9' || value > (SIZE_MAX / mib - 9) / 10) {
      throw Error(ErrorCode::bad_request, fmt::format("MINFER_GPU_MEM={}: expected whole MiB", text),
                  "set it to a number such as 4096, or unset it");
    }
    value = value * 10 + size_t(*c - '0');
  }
  return value * mib;
}

}  // namespace

Budget::Budget(const Backend& backend) : bytes_(budget_from_environment()) {
  if (bytes_) return;
  const MemoryAnswer answer = backend.memory();
  switch (answer.state) {
    case MemoryAnswer::State::reported:
      bytes_ = answer.bytes / 4 * 3;
      break;
    case MemoryAnswer::State::failed:
      log(LogLevel::warning, "{}: asking for its memory failed ({}); its buffers are not bounded",
          backend.name(), answer.error);
      break;
    case MemoryAnswer::State::no_device:
      break;
  }
}

void Budget::check(const Backend& backend, size_t pooled, size_t request) const {
  if (!bytes_) return;
  const size_t weights = backend.weight_bytes();
  const bool fits =
      weights <= *bytes_ && pooled <= *bytes_ - weights && request <= *bytes_ - weights - pooled;
  if (fits) return;
  throw Error(
      ErrorCode::out_of_memory,
      fmt::format("{}: a buffer does not fit: weights {:.2f} MiB + pooled {:.2f} MiB + request {:.2f} MiB, "
                  "expected at most the budget of {:.2f} MiB",
                  backend.name(), in_mib(weights), in_mib(pooled), in_mib(request), in_mib(*bytes_)),
      "use a smaller context or fewer blocks on the device, or raise MINFER_GPU_MEM");
}

struct Allocator::Changes {
  std::vector<size_t> pooled;
  Pool values, staging;
  std::map<int, Region> regions;
  std::function<std::unique_ptr<Buffer>(int, size_t)> make;
};

Allocator::Allocator(Backends backends) : backends_(backends), pooled_(backends.size(), 0) {
  for (const Backend* backend : backends) budgets_.emplace_back(*backend);
}

Placement Allocator::place(const Graph& graph, const MemoryPlan& plan) {
  Changes changes;
  changes.pooled = pooled_;
  changes.make = [&](int backend, size_t bytes) {
    Backend& device = *backends_[size_t(backend)];
    size_t& pooled = changes.pooled[size_t(backend)];
    budgets_[size_t(backend)].check(device, pooled, bytes);
    std::unique_ptr<Buffer> buffer = device.allocate(bytes);
    pooled += bytes;
    return buffer;
  };
  make_regions(graph, changes);
  const std::vector<Buffer*> slots = take(plan.slots, values_, changes.values, changes.make);
  Placement placement;
  placement.staging = take(plan.staging, staging_, changes.staging, changes.make);
  for (const auto& [layer, region] : changes.regions) placement.new_layers.push_back(layer);
  placement.values.reserve(graph.nodes.size());
  keep(changes);
  for (const Node& node : graph.nodes) {
    const int slot = plan.slot_of[size_t(node.id)];
    Buffer* buffer = slot == no_slot ? nullptr : slots[size_t(slot)];
    if (!node.dead && is_kv_region(node.op)) buffer = kv(kv_use(node.op)->layer).k;
    placement.values.push_back(buffer);
    const int capture = plan.capture_of[size_t(node.id)];
    placement.captures.push_back(capture == no_slot ? nullptr : placement.staging[size_t(capture)]);
  }
  return placement;
}

void Allocator::make_regions(const Graph& graph, Changes& changes) const {
  for (const Node& node : graph.nodes) {
    const auto use = kv_use(node.op);
    if (node.dead || !use || changes.regions.count(use->layer) != 0) continue;
    const auto known = regions_.find(use->layer);
    if (known == regions_.end()) {
      const size_t bytes = kv_row_bytes(use->format, use->kv_dim) * size_t(graph.n_ctx);
      Region region{node.backend, use->kv_dim, graph.n_ctx, use->format, nullptr, nullptr};
      region.k = changes.make(node.backend, bytes);
      region.v = changes.make(node.backend, bytes);
      changes.regions.emplace(use->layer, std::move(region));
      continue;
    }
    const Region& region = known->second;
    const bool same = region.backend == node.backend && region.kv_dim == use->kv_dim &&
                      region.n_ctx == graph.n_ctx && region.format == use->format;
    if (same) continue;
    throw Error(
        ErrorCode::bad_request,
        fmt::format("node {} ({}): it needs KV regions of {} rows of {} {} on {}, layer {} has {} rows of {} "
                    "{} on {}",
                    node.id, node.name, graph.n_ctx, use->kv_dim, name(use->format),
                    backends_[size_t(node.backend)]->name(), use->layer, region.n_ctx, region.kv_dim,
                    name(region.format), backends_[size_t(region.backend)]->name()),
        "a context keeps its length, KV format and devices; make a new one to change them");
  }
}

/// The n-th slot of a size gets the n-th buffer of that size: the same plan always gets the same memory.
std::vector<Buffer*> Allocator::take(const std::vector<Slot>& slots, const Pool& pool, Pool& added,
                                     const std::function<std::unique_ptr<Buffer>(int, size_t)>& make) {
  std::map<Key, size_t> taken;
  std::vector<Buffer*> buffers;
  for (const Slot& slot : slots) {
    const Key key{slot.backend, slot.bytes};
    const size_t index = taken[key]++;
    const auto known = pool.find(key);
    const size_t existing = known == pool.end() ? 0 : known->second.size();
    if (index < existing) {
      buffers.push_back(known->second[index].get());
      continue;
    }
    added[key].push_back(make(slot.backend, slot.bytes));
    buffers.push_back(added[key].back().get());
  }
  return buffers;
}

void Allocator::keep(Changes& changes) {
  const auto append = [](Pool& pool, Pool& added) {
    for (auto& [key, buffers] : added) {
      for (auto& buffer : buffers) pool[key].push_back(std::move(buffer));
    }
  };
  append(values_, changes.values);
  append(staging_, changes.staging);
  regions_.merge(changes.regions);
  pooled_ = std::move(changes.pooled);
}

void Allocator::forget_new_layers(const Placement& placement) {
  for (int layer : placement.new_layers) {
    const auto region = regions_.find(layer);
    pooled_[size_t(region->second.backend)] -= region->second.k->bytes() + region->second.v->bytes();
    regions_.erase(region);
  }
}

void Allocator::keep_only(std::span<const Placement* const> used) {
  std::set<const Buffer*> buffers;
  for (const Placement* placement : used) {
    for (const auto* list : {&placement->values, &placement->staging, &placement->captures}) {
      buffers.insert(list->begin(), list->end());
    }
  }
  drop_unused(values_, buffers);
  drop_unused(staging_, buffers);
}

void Allocator::drop_unused(Pool& pool, const std::set<const Buffer*>& used) {
  for (auto& [key, buffers] : pool) {
    const auto& [backend, bytes] = key;
    const size_t dropped =
        std::erase_if(buffers, [&](const auto& buffer) { return !used.contains(buffer.get()); });
    pooled_[size_t(backend)] -= dropped * bytes;
  }
  std::erase_if(pool, [](const auto& entry) { return entry.second.empty(); });
}

KvRegions Allocator::kv(int layer) const {
  const auto region = regions_.find(layer);
  if (region == regions_.end()) return {};
  return {region->second.k.get(), region->second.v.get()};
}

size_t Allocator::pooled_bytes() const {
  size_t sum = 0;
  for (size_t bytes : pooled_) sum += bytes;
  return sum;
}

}  // namespace minfer
