#include "backends/registry.h"

#include <fmt/format.h>

#include "backends/cpu/cpu_backend.h"
#include "base/error.h"
#ifdef MINFER_HAS_METAL
#include "backends/metal/metal_backend.h"
#endif

namespace minfer {
namespace {

constexpr DeviceKind kinds[] = {
    {.name = "cpu",
     .what = "the processor's cores",
     .automatic = false,
     .simulated = false,
     .open = [](const DeviceOptions& options) { return make_cpu_backend(options.threads); }},
#ifdef MINFER_METAL_SIM
    {.name = "metal-sim",
     .what = "a Metal device made of software",
     .automatic = false,
     .simulated = true,
     .open = [](const DeviceOptions& options) { return make_metal_backend(options.half_staging); }},
#elif defined(MINFER_HAS_METAL)
    {.name = "metal",
     .what = "the Apple GPU of this machine",
     .automatic = true,
     .simulated = false,
     .open = [](const DeviceOptions& options) { return make_metal_backend(options.half_staging); }},
#endif
};

}  // namespace

std::span<const DeviceKind> device_kinds() { return kinds; }

const DeviceKind& device_kind(std::string_view name, std::span<const DeviceKind> among) {
  for (const DeviceKind& kind : among) {
    if (kind.name == name) return kind;
  }
  throw Error(ErrorCode::unsupported, fmt::format("device `{}` is not in this build", name),
              "use " + device_choices(among));
}

std::string device_choices(std::span<const DeviceKind> among) {
  std::string text = "auto";
  for (const DeviceKind& kind : among)
    text += (&kind == &among.back() ? " or " : ", ") + std::string(kind.name);
  return text;
}

}  // namespace minfer
