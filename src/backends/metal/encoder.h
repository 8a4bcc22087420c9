#pragma once
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "backends/metal/device/weights.h"
#include "backends/metal/program.h"
#include "backends/metal/settings.h"
#include "base/error.h"

namespace minfer::metal {

/// f32 rows of one value, one a token, without gaps.
struct Values {
  Span span;
  int64_t cols;
  int64_t tokens;
  int64_t elements() const { return cols * tokens; }
};

/// Kernel memory that outlives a program: all layers use it one after the other. Grows only; what it was
/// before stays alive, because older programs point into it.
class Scratch {
 public:
  explicit Scratch(Device& device, std::string label) : device_(device), label_(std::move(label)) {}
  /// At least `bytes`. Throws Error{out_of_memory}.
  Span ensure(size_t bytes);
  size_t bytes() const;  ///< over all generations

 private:
  Device& device_;
  std::string label_;
  std::vector<Ref<MTL::Buffer>> generations_;
};
using ScratchPool = std::map<std::string, Scratch, std::less<>>;

/// Fills in one dispatch: `encoder.dispatch(node, "add_f32").args(a).read(1, x).write(2, y).grid(groups,
/// threads)`.
class DispatchBuilder {
 public:
  DispatchBuilder(Dispatch& dispatch, const Limits& limits) : dispatch_(dispatch), limits_(limits) {}
  template <class Args>
  DispatchBuilder& args(const Args& args) {
    static_assert(std::is_trivially_copyable_v<Args> && sizeof(Args) <= 4096);
    dispatch_.constants.resize(sizeof args);
    std::memcpy(dispatch_.constants.data(), &args, sizeof args);
    return *this;
  }
  DispatchBuilder& read(uint32_t index, const Span& span);
  DispatchBuilder& write(uint32_t index, const Span& span);  ///< written, or read and written
  /// Rounded up to 16 bytes. Throws Error{unsupported} with both numbers if the device has less.
  DispatchBuilder& threadgroup_memory(size_t bytes);
  /// Throws Error{unsupported} with both numbers if the pipeline cannot run so many threads.
  DispatchBuilder& grid(Extent groups, Extent threads);
  Dispatch& done() { return dispatch_; }

 private:
  Dispatch& dispatch_;
  const Limits& limits_;
};

/// Builds a MetalProgram node by node; ops append dispatches through it.
class Encoder {
 public:
  Encoder(Device& on, const Settings& from_environment, const WeightRegistry& weights, ScratchPool& scratch,
          MetalProgram& program)
      : device(on), settings(from_environment), program_(program), weights_(weights), scratch_(scratch) {}

  Device& device;
  const Settings& settings;

  /// A matrix or table. Throws Error{bad_model} naming node and weight if it is unknown or has another shape
  /// or type.
  Span weight(const Node& node, const WeightRef& ref) const;
  /// A vector of exactly `length` f32 values.
  Span vector(const Node& node, const WeightRef& ref, int64_t length) const;

  DispatchBuilder dispatch(const Node& node, std::string_view kernel, std::vector<Constant> constants = {});
  /// Runs before every replay, in the order added.
  void prepare(std::function<void()> prepare) { program_.prepares.push_back(std::move(prepare)); }
  /// Registers a data check once for equal keys: 30 layers read the same cells.
  using CheckKey = std::tuple<std::string, const void*, int64_t, int64_t>;
  void check(CheckKey key, std::function<void()> check);
  Scratch& scratch(std::string_view name);
  /// Host view of an i32 input. Refuses indices that this program itself computes: checks and preparations
  /// read them before any dispatch runs.
  const int32_t* indices(const Node& node, const Operand& operand, int64_t count) const;

  void finish();

 private:
  MetalProgram& program_;
  const WeightRegistry& weights_;
  ScratchPool& scratch_;
  std::set<CheckKey> checked_;
};

/// A buffer that the backend allocated, as a span of the operand's logical length.
Span span_of(const Node& node, const Operand& operand);

/// A static refusal: what node, what is wrong.
[[noreturn]] void refuse(const Node& node, ErrorCode code, const std::string& why);

}  // namespace minfer::metal
