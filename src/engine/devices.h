#pragma once
#include <memory>
#include <string>
#include <vector>

#include "backends/registry.h"
#include "engine/device_plan.h"
#include "engine/session.h"

namespace minfer {

/// The backends of a session, with the model's weights.
struct Devices {
  std::unique_ptr<Backend> device;         ///< null: the CPU alone
  std::unique_ptr<Backend> cpu;            ///< null: everything is on the device
  DevicePlan plan;                         ///< of the device
  std::vector<Backend*> in_order() const;  ///< of preference
  std::string name() const;                ///< "cpu", "metal", "metal + cpu"
};

/// Opens what the options ask for, registers the weights, and sets those parts of `context` that depend on
/// the device: `gpu`, `gpu_layers` and `kv_format`. Logs what `auto` decided against a device that is there,
/// which blocks are on a device, and with `explain` every reason why not. Throws Error{unsupported} or
/// Error{device} if a device asked for by name cannot run the model, Error{bad_request} for settings that
/// cannot be used.
Devices open_devices(const Model& model, const SessionOptions& options, ContextParams& context,
                     std::span<const DeviceKind> kinds = device_kinds());

}  // namespace minfer
