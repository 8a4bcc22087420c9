#pragma once
#include <functional>
#include <vector>

#include "backends/backend.h"

namespace minfer::test {

class TestBuffer final : public Buffer {
 public:
  explicit TestBuffer(size_t size) : memory(size) {}
  size_t bytes() const override { return memory.size(); }
  std::byte* host() override { return nullptr; }
  std::vector<std::byte> memory;
};

inline std::vector<std::byte>& memory_of(Buffer* buffer) { return static_cast<TestBuffer*>(buffer)->memory; }

Support interpretable(const Op& op);

using WeightValues = std::function<std::vector<float>(const WeightRef&)>;

/// Runs one node: fills its buffer with NaN unless it is made in place, then computes it in plain loops with
/// f64 sums.
void interpret(const PlacedNode& placed, const WeightValues& weight);

}  // namespace minfer::test
