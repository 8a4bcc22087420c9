#pragma once
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "backends/cpu/isa/kernels.h"
#include "backends/cpu/program.h"
#include "base/error.h"

namespace minfer::cpu {

/// Weights by name: views of the bytes the model has mapped.
class WeightTable {
 public:
  /// Throws Error{bad_model} for bytes that do not fit their shape or a known name with other bytes.
  void add(const Weight& weight);
  const Weight* find(std::string_view name) const;
  size_t bytes() const { return bytes_; }

 private:
  std::map<std::string, Weight, std::less<>> weights_;
  size_t bytes_ = 0;
};

/// f32 rows of one value, one a token, without gaps.
struct Values {
  float* data;
  int64_t cols;
  int64_t tokens;
  int64_t elements() const { return cols * tokens; }
  Access access() const { return {data, size_t(elements()) * sizeof(float)}; }
};

/// cos and sin of every (token, pair), filled once a run for all layers: [tokens][head_dim / 2] each.
struct RopeTable {
  const float* cos;
  const float* sin;
  int64_t pairs;
  Access access;
};

struct AttentionPlan;

/// Builds a CpuProgram node by node. Holds what nodes share: the quantised source, rope tables, window plans.
class Encoder {
 public:
  Encoder(const KernelTable& table, const WeightTable& weights, CpuProgram& program, int threads)
      : kernels(table), program_(program), weights_(weights), threads_(threads) {}

  const KernelTable& kernels;

  /// Throws Error{bad_model} naming node and weight if it is unknown or has another shape or type.
  const std::byte* weight(const Node& node, const WeightRef& ref) const;
  /// A vector of exactly `length` f32 values.
  const float* vector(const Node& node, const WeightRef& ref, int64_t length) const;

  void step(Step step);
  /// Registers a data check once for equal keys: 30 layers read the same cells.
  using CheckKey = std::tuple<std::string, const void*, int64_t, int64_t>;
  void check(CheckKey key, std::function<void()> check);
  void prepare(std::function<void()> prepare) { program_.prepares.push_back(std::move(prepare)); }
  /// Memory that lives as long as the program.
  std::byte* own(size_t bytes);
  /// Attention's chunk states: layers of equal size share them, one after the other.
  std::byte* states(size_t bytes);
  /// Every worker has at least this much scratch in its steps.
  void need_scratch(size_t bytes);
  /// Refuses indices that this program itself computes: data checks read them before any step runs.
  const int32_t* indices(const Node& node, const Operand& operand, int64_t count) const;

  /// Adds the step that quantises `x`, unless the store holds it already; every matmul of x reads the store.
  void quantise(const Values& x, int planes);
  const Q8Store* q8() const { return &program_.q8; }
  Access q8_access() const { return {&program_.q8, sizeof program_.q8}; }

  const RopeTable& rope_table(const Node& node, const RopeParams& rope, int64_t head_dim,
                              const int32_t* positions, int64_t tokens);
  using PlanKey = std::tuple<WindowKind, const void*, int64_t, int64_t>;  ///< data, tokens, block
  std::shared_ptr<AttentionPlan>& plan(const PlanKey& key) { return plans_[key]; }

  void finish();

 private:
  CpuProgram& program_;
  const WeightTable& weights_;
  int threads_;
  std::map<CheckKey, bool> checked_;
  Values quantised_ = {nullptr, 0, 0};  ///< what the store holds, in so many planes
  int planes_ = 0;
  struct KeyedRope {
    RopeParams rope;
    int64_t head_dim;
    const int32_t* positions;
    std::unique_ptr<RopeTable> table;
  };
  std::vector<KeyedRope> ropes_;
  std::map<size_t, std::byte*> states_;
  std::map<PlanKey, std::shared_ptr<AttentionPlan>> plans_;
};

/// A static refusal: what node, what is wrong.
[[noreturn]] void refuse(const Node& node, ErrorCode code, const std::string& why);

}  // namespace minfer::cpu
