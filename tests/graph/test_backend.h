#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backends/backend.h"

namespace minfer::test {

/// A device made to be unlike the CPU: memory the host cannot address, outputs overwritten with NaN before
/// they are computed (so that a value read after its memory was given away is seen), and every op in plain
/// loops that share no code with the kernels. KV regions are f32.
class TestBackend final : public Backend {
 public:
  explicit TestBackend(std::string name) : name_(std::move(name)) {}

  /// Which nodes it takes; all if unset.
  std::function<bool(const Node&)> accepts;
  MemoryAnswer answer;              ///< no device unless set
  size_t claimed_weight_bytes = 0;  ///< added to weight_bytes
  int allocations_until_failure = -1;
  int encodes_until_failure = -1;

  int allocations = 0, encodes = 0, runs = 0, copies_in = 0, copies_out = 0;
  size_t allocated_bytes = 0;
  std::map<std::string, int, std::less<>> ops_run;

  std::string_view name() const override { return name_; }
  Support supports(const Node& node) const override;
  MemoryAnswer memory() const override { return answer; }
  void add_weight(const Weight& weight) override;
  bool has_weight(std::string_view name) const override { return weights_.count(name) != 0; }
  size_t weight_bytes() const override;
  std::unique_ptr<Buffer> allocate(size_t bytes) override;
  void copy_in(Buffer& dst, size_t offset, std::span<const std::byte> src) override;
  void copy_out(Buffer& src, size_t offset, std::span<std::byte> dst) override;
  std::unique_ptr<Program> encode(std::span<const PlacedNode> split) override;
  void run(Program& program) override;
  void wait() override { pending_ = false; }

  /// A weight decoded to f32.
  std::vector<float> weight(const WeightRef& ref) const;

 private:
  std::string name_;
  std::map<std::string, Weight, std::less<>> weights_;
  bool pending_ = false;  // run was called and wait was not
};

}  // namespace minfer::test
