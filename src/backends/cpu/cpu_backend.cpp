#include "backends/cpu/cpu_backend.h"

#include <fmt/format.h>

#include <cstring>

#include "backends/cpu/encoder.h"
#include "backends/cpu/ops/ops.h"
#include "base/error.h"
#include "base/fault.h"

namespace minfer {
namespace {

class CpuBuffer final : public Buffer {
 public:
  explicit CpuBuffer(size_t bytes) : bytes_(bytes), memory_(bytes) {}
  size_t bytes() const override { return bytes_; }
  std::byte* host() override { return memory_.data(); }

 private:
  size_t bytes_;
  cpu::AlignedMemory memory_;
};

class CpuBackend final : public Backend {
 public:
  explicit CpuBackend(int threads) : pool_(threads), kernels_(cpu::kernels()) {}

  std::string_view name() const override { return "cpu"; }

  Support supports(const Node& node) const override {
    std::string why = cpu::refusal(node);
    return why.empty() ? Support::yes() : Support::no(std::move(why));
  }

  /// Main memory is the system's to share out: no budget of ours.
  MemoryAnswer memory() const override { return {}; }

  void add_weight(const Weight& weight) override { weights_.add(weight); }
  bool has_weight(std::string_view name) const override { return weights_.find(name) != nullptr; }
  size_t weight_bytes() const override { return weights_.bytes(); }

  std::unique_ptr<Buffer> allocate(size_t bytes) override {
    if (allocate_fault_.hit()) {
      throw Error(ErrorCode::out_of_memory, fmt::format("allocating {} bytes: a test made it fail", bytes));
    }
    return std::make_unique<CpuBuffer>(bytes);
  }

  void copy_in(Buffer& to, size_t offset, std::span<const std::byte> from) override {
    MINFER_CHECK(offset <= to.bytes() && from.size() <= to.bytes() - offset, "a copy stays in its buffer");
    if (!from.empty()) std::memcpy(to.host() + offset, from.data(), from.size());
  }
  void copy_out(Buffer& from, size_t offset, std::span<std::byte> to) override {
    MINFER_CHECK(offset <= from.bytes() && to.size() <= from.bytes() - offset, "a copy stays in its buffer");
    if (!to.empty()) std::memcpy(to.data(), from.host() + offset, to.size());
  }

  std::unique_ptr<Program> encode(std::span<const PlacedNode> split) override {
    auto program = std::make_unique<cpu::CpuProgram>();
    cpu::Encoder encoder(kernels_, weights_, *program, pool_.threads());
    for (const PlacedNode& placed : split) {
      if (!placed.node->dead) cpu::encode_node(encoder, placed);
    }
    encoder.finish();
    workspace_.hold(program->q8.bytes, program->scratch_bytes * size_t(pool_.threads()));
    return program;
  }

  void run(Program& program) override {
    if (run_fault_.hit()) throw Error(ErrorCode::device, "running on the CPU: a test made it fail");
    auto* ours = dynamic_cast<cpu::CpuProgram*>(&program);
    MINFER_CHECK(ours != nullptr, "a program runs on the backend that encoded it");
    ours->q8.data = workspace_.q8();
    ours->scratch = workspace_.scratch();
    ours->run(pool_, cancel_);
  }

  void wait() override {}  // run returns when the work is done

  void set_cancel(const std::atomic<bool>* flag) override { cancel_ = flag; }

 private:
  ThreadPool pool_;
  const cpu::KernelTable& kernels_;
  cpu::WeightTable weights_;
  cpu::Workspace workspace_;
  const std::atomic<bool>* cancel_ = nullptr;
  FaultPoint allocate_fault_{"cpu_allocate"};
  FaultPoint run_fault_{"cpu_run"};
};

}  // namespace

std::unique_ptr<Backend> make_cpu_backend(int threads) { return std::make_unique<CpuBackend>(threads); }

}  // namespace minfer
