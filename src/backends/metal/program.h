#pragma once
#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/backend.h"
#include "backends/metal/device/device.h"

namespace minfer::metal {

/// One buffer of a kernel's signature.
struct Argument {
  uint32_t index;  ///< [[buffer(index)]]
  Span span;
  bool written;  ///< false: only read
};

/// Threadgroups, or threads of a threadgroup.
struct Extent {
  size_t x = 1, y = 1, z = 1;
  size_t count() const { return x * y * z; }
};

/// One resolved kernel call. [[buffer(0)]] is its argument structure, copied into the command buffer; buffers
/// follow from index 1. Only `prepares` change it after encode.
struct Dispatch {
  const Pipeline* pipeline = nullptr;
  std::string node;  ///< "blk.3.attn_q", for errors and profiles
  std::vector<Argument> arguments;
  std::vector<std::byte> constants;  ///< at index 0; at most 4096 bytes
  size_t threadgroup_bytes = 0;      ///< at [[threadgroup(0)]]; a multiple of 16, 0: none
  Extent groups, threads;
  bool skipped = false;         ///< nothing to do this time: set by a preparation
  bool barrier_before = false;  ///< set by plan_barriers

  /// The argument structure, to be changed by a preparation.
  template <class Args>
  Args& args() {
    return *reinterpret_cast<Args*>(constants.data());
  }
};

/// When a dispatch waits for those before it.
enum class BarrierMode {
  planned,  ///< where bytes that an earlier one touched since the last barrier demand it
  all,      ///< before every dispatch: the reference that `planned` is held to
};

/// Puts a barrier before each dispatch that touches what one since the last barrier wrote, or writes what one
/// read. A skippable dispatch counts as if it ran.
void plan_barriers(std::deque<Dispatch>& dispatches, BarrierMode mode);

/// A split as Metal replays it: checks of the data, then preparations, then the dispatches in order in one
/// command buffer.
class MetalProgram final : public Program {
 public:
  std::vector<std::function<void()>> checks;    ///< throw Error{bad_request}; change nothing
  std::vector<std::function<void()>> prepares;  ///< set grids and arguments that depend on data
  std::deque<Dispatch> dispatches;              ///< a deque, so that preparations may point into it
};

}  // namespace minfer::metal
