#include "graph/test_backend.h"

#include <algorithm>

#include "base/error.h"
#include "graph/interpreter.h"
#include "quant/quant.h"

namespace minfer::test {
namespace {

struct TestProgram final : Program {
  std::vector<PlacedNode> nodes;
};

/// Counts down to a fault that was asked for.
bool fails_now(int& countdown) { return countdown >= 0 && countdown-- == 0; }

}  // namespace

Support TestBackend::supports(const Node& node) const {
  if (accepts && !accepts(node))
    return Support::no(name_ + " was told not to take " + std::string(op_name(node.op)));
  return interpretable(node.op);
}

void TestBackend::add_weight(const Weight& weight) { weights_[weight.ref.name] = weight; }

size_t TestBackend::weight_bytes() const {
  size_t sum = claimed_weight_bytes;
  for (const auto& [name, weight] : weights_) sum += weight.data.size();
  return sum;
}

std::unique_ptr<Buffer> TestBackend::allocate(size_t bytes) {
  if (fails_now(allocations_until_failure))
    throw Error(ErrorCode::out_of_memory, "allocation failed as asked");
  ++allocations;
  allocated_bytes += bytes;
  return std::make_unique<TestBuffer>(bytes);
}

void TestBackend::copy_in(Buffer& dst, size_t offset, std::span<const std::byte> src) {
  ++copies_in;
  auto& bytes = memory_of(&dst);
  MINFER_CHECK(offset + src.size() <= bytes.size(), "a copy stays inside its buffer");
  std::copy(src.begin(), src.end(), bytes.begin() + std::ptrdiff_t(offset));
}

void TestBackend::copy_out(Buffer& src, size_t offset, std::span<std::byte> dst) {
  MINFER_CHECK(!pending_, "nothing is read while work is pending");
  ++copies_out;
  auto& bytes = memory_of(&src);
  MINFER_CHECK(offset + dst.size() <= bytes.size(), "a copy stays inside its buffer");
  std::copy_n(bytes.begin() + std::ptrdiff_t(offset), dst.size(), dst.begin());
}

std::unique_ptr<Program> TestBackend::encode(std::span<const PlacedNode> split) {
  if (fails_now(encodes_until_failure)) throw Error(ErrorCode::unsupported, "encoding failed as asked");
  ++encodes;
  auto program = std::make_unique<TestProgram>();
  program->nodes.assign(split.begin(), split.end());
  return program;
}

void TestBackend::run(Program& program) {
  MINFER_CHECK(!pending_, "one split at a time");
  ++runs;
  pending_ = true;
  for (const PlacedNode& placed : static_cast<TestProgram&>(program).nodes) {
    ++ops_run[std::string(op_name(placed.node->op))];
    interpret(placed, [this](const WeightRef& ref) { return weight(ref); });
    if (placed.capture == nullptr) continue;
    const auto& made = memory_of(placed.output.buffer);
    std::copy_n(made.begin(), placed.output.desc.bytes(), memory_of(placed.capture).begin());
  }
}

std::vector<float> TestBackend::weight(const WeightRef& ref) const {
  const auto found = weights_.find(ref.name);
  MINFER_CHECK(found != weights_.end(), "the weight was added");
  std::vector<float> values(size_t(ref.cols * ref.rows));
  decode_row(ref.type, found->second.data.data(), values.data(), int64_t(values.size()));
  return values;
}

}  // namespace minfer::test
