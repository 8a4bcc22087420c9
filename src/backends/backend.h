#pragma once
#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace minfer {

/// Whether a device runs a node; if not, why. `assign` prints `why` under --explain.
struct Support {
  bool ok;
  std::string why = {};
  static Support yes() { return {true}; }
  static Support no(std::string why) { return {false, std::move(why)}; }
};

/// A weight's bytes, valid as long as the model lives.
struct Weight {
  WeightRef ref;
  std::span<const std::byte> data;
};

/// Memory of one device.
class Buffer {
 public:
  virtual ~Buffer() = default;
  virtual size_t bytes() const = 0;
  virtual std::byte* host() = 0;  ///< null if the host cannot address it
};

/// Where a value lies for one node of a split: counts come from `desc`, never from the buffer's size.
struct Operand {
  Buffer* buffer = nullptr;
  TensorDesc desc;
};

/// The K and V regions of a layer: n_ctx rows of kv_row_bytes(format, kv_dim).
struct KvRegions {
  Buffer* k = nullptr;
  Buffer* v = nullptr;
};

/// A node with all its memory resolved: what encode turns into a call.
struct PlacedNode {
  const Node* node = nullptr;
  std::vector<Operand> sources;
  Operand output;
  KvRegions kv;  ///< of node's layer, for ops that touch it
  int64_t n_ctx = 0;
  /// Where a copy of the output goes before another node can write over it; as long as the output. Null
  /// unless values are captured.
  Buffer* capture = nullptr;
};

/// A split turned into whatever its device replays. Made by encode once per (graph, allocation).
class Program {
 public:
  virtual ~Program() = default;
};

/// What a device says of its memory. `failed` is not a zero budget; `no_device` is not an error.
struct MemoryAnswer {
  enum class State { reported, failed, no_device } state = State::no_device;
  size_t bytes = 0;        ///< when reported
  std::string error = {};  ///< when failed
};

/// One device, seen by the graph.
///
/// Threads: `supports` is const and may be called from any thread; the rest from one thread at a time.
/// Errors:  Error{out_of_memory} from allocate; Error{unsupported} or Error{bad_model} from encode (static
/// refusals:
///          node, value, expected); Error{bad_request} from run before any work (data refusals: KV row or id
///          out of range); Error{device} from run and wait. Nothing else throws.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;  ///< "cpu", "metal:0", "cuda:1"
  virtual Support supports(
      const Node& node) const = 0;  ///< from payload, dtypes and shapes only; must not allocate
  virtual MemoryAnswer memory() const = 0;
  /// Makes the weight known under its name, without copying where the device can. Registering the same bytes
  /// twice is a no-op, other bytes under a known name Error{bad_model}.
  virtual void add_weight(const Weight& weight) = 0;
  /// Memory that holds weights and stays mapped as long as the model, base on a page: a device may use it in place.
  /// Called before add_weight; `longest_weight` in bytes. The CPU needs no such thing.
  virtual void add_mapping(std::span<const std::byte> bytes, size_t longest_weight) {
    (void)bytes, (void)longest_weight;
  }
  /// Every weight has been added: time for what a device does once, such as making them resident.
  virtual void finish_weights() {}
  virtual bool has_weight(std::string_view name) const = 0;
  virtual size_t weight_bytes() const = 0;
  virtual std::unique_ptr<Buffer> allocate(size_t bytes) = 0;  ///< zero-filled
  virtual void copy_in(Buffer& dst, size_t offset, std::span<const std::byte> src) = 0;
  virtual void copy_out(Buffer& src, size_t offset, std::span<std::byte> dst) = 0;  ///< after wait
  virtual std::unique_ptr<Program> encode(std::span<const PlacedNode> split) = 0;
  virtual void run(Program& program) = 0;  ///< may return before the work is done
  virtual void wait() = 0;
  /// While `*flag` is true, run may end early and leave values and KV rows half done: who set it must not use
  /// them. Null: never. A device that cannot end early ignores this.
  virtual void set_cancel(const std::atomic<bool>* flag) { (void)flag; }
};

}  // namespace minfer
