#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "backends/backend.h"

namespace minfer {

/// What a backend is made with.
struct DeviceOptions {
  int threads = 1;            ///< of the CPU's team
  bool half_staging = false;  ///< a GPU multiplies prompts with operands rounded to half
};

/// A kind of device that this build can run on.
struct DeviceKind {
  std::string_view name;  ///< as --device spells it
  std::string_view what;  ///< for people, in a few words
  bool automatic;         ///< `auto` may choose it
  bool simulated;         ///< runs on the CPU, to check what a device would compute
  /// Throws Error{unsupported} or Error{device} with the reason if it cannot run here.
  std::unique_ptr<Backend> (*open)(const DeviceOptions& options);
};

/// All of them, the CPU first.
std::span<const DeviceKind> device_kinds();

/// Throws Error{unsupported} listing what --device takes if there is no such kind.
const DeviceKind& device_kind(std::string_view name, std::span<const DeviceKind> among = device_kinds());

/// What --device takes: "auto, cpu or metal".
std::string device_choices(std::span<const DeviceKind> among = device_kinds());

}  // namespace minfer
