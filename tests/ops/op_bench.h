#pragma once
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "backends/backend.h"

namespace minfer::test {

/// A device of this machine, made anew for each case.
struct Device {
  std::string name;
  std::function<std::unique_ptr<Backend>()> make;
};
/// The devices that a test program is about, in a file of their own: devices_cpu.cpp, or metal/devices.cpp.
std::vector<Device> devices();
/// Those that have a kernel for each of `ops`.
std::vector<Device> devices_that_run(const std::vector<Op>& ops);
/// The CPU with a given team: results must not depend on it.
Device cpu_with(int threads);

/// Values without pattern, the same on every run.
class Source {
 public:
  explicit Source(uint32_t seed) : random_(seed) {}
  float normal() { return std::normal_distribution<float>(0.0f, 1.0f)(random_); }
  int integer(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  std::vector<float> normals(int64_t n);
  std::mt19937& bits() { return random_; }

 private:
  std::mt19937 random_;
};

/// Random valid blocks: `rows` rows of `cols` values, as a file holds them.
std::vector<std::byte> random_rows(DType type, int64_t cols, int64_t rows, uint32_t seed);

/// Nodes with memory, weights and KV regions on one device: what a pipeline would place, written by hand.
class OpBench {
 public:
  explicit OpBench(const Device& device) : backend_(device.make()) {}
  Backend& backend() { return *backend_; }

  Operand values(int64_t cols, int64_t rows, const std::vector<float>& data);
  Operand indices(const std::vector<int32_t>& data);
  Operand result(int64_t cols, int64_t rows);
  void set(const Operand& operand, const std::vector<float>& data);
  void set(const Operand& operand, const std::vector<int32_t>& data);

  /// Random valid blocks of any type, registered under `name`.
  WeightRef weight(const std::string& name, DType type, int64_t cols, int64_t rows, uint32_t seed);
  WeightRef vector(const std::string& name, const std::vector<float>& data);
  /// A registered weight's values, row after row.
  std::vector<float> decoded(const WeightRef& ref) const;

  /// A layer's regions, shared by the nodes added after it.
  void regions(KvFormat format, int64_t kv_dim, int64_t n_ctx);
  Operand region(int64_t kv_dim) const;  ///< what KvStore and KvLoad give to attention
  std::vector<std::byte> region_bytes(bool keys);

  void add(Op op, std::vector<Operand> sources, const Operand& output, const std::string& name = "node");
  /// Encodes what was added since the last run; throws what encode and run throw.
  void encode();
  void run();
  const Program* program() const { return program_.get(); }  ///< what encode made; null before it
  std::vector<float> read(const Operand& operand);

 private:
  Operand place(TensorDesc desc, const void* data, size_t bytes);

  std::vector<std::vector<std::byte>> weight_bytes_;  ///< outlives the backend's views
  std::vector<WeightRef> weights_;
  std::unique_ptr<Backend> backend_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::vector<PlacedNode> placed_;
  std::unique_ptr<Program> program_;
  KvRegions kv_;
  int64_t n_ctx_ = 0;
};

/// The code of the Error that `act` throws, with its message; empty message if it throws none.
struct Refused {
  bool thrown = false;
  int code = -1;
  std::string message;
};
Refused refused(const std::function<void()>& act);

/// Bit for bit, so that a zero's sign and a NaN count.
bool same_bits(const std::vector<float>& a, const std::vector<float>& b);

}  // namespace minfer::test
