#include "engine/devices.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "backends/cpu/cpu_backend.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mapped_file.h"

using namespace minfer;

namespace {

/// What the device of this file answers, and what it was told.
struct Script {
  std::string cannot_open;  ///< why, if it cannot
  ErrorCode code = ErrorCode::unsupported;
  MemoryAnswer memory{MemoryAnswer::State::reported, size_t(1) << 40, {}};
  std::string without_kernel;  ///< the weight whose matmul it refuses
  std::vector<std::string> calls;
  std::span<const std::byte> mapping;
};
Script script;

class ScriptedDevice final : public Backend {
 public:
  std::string_view name() const override { return "scripted"; }
  Support supports(const Node& node) const override {
    const auto* matmul = std::get_if<MatMul>(&node.op);
    if (!matmul || matmul->weight.name != script.without_kernel) return Support::yes();
    return Support::no("no kernel multiplies " + matmul->weight.name);
  }
  MemoryAnswer memory() const override { return script.memory; }
  void add_mapping(std::span<const std::byte> bytes, size_t longest) override {
    script.calls.push_back("mapping");
    script.mapping = bytes;
    CHECK(reinterpret_cast<uintptr_t>(bytes.data()) % page_bytes() == 0);
    CHECK(longest > 0);
  }
  void add_weight(const Weight& weight) override {
    CHECK(weight.data.data() >= script.mapping.data());
    CHECK(weight.data.data() + weight.data.size() <= script.mapping.data() + script.mapping.size());
    script.calls.push_back(weight.ref.name);
    bytes_ += weight.data.size();
  }
  void finish_weights() override { script.calls.push_back("finish"); }
  bool has_weight(std::string_view) const override { return true; }
  size_t weight_bytes() const override { return bytes_; }
  std::unique_ptr<Buffer> allocate(size_t) override { return nullptr; }
  void copy_in(Buffer&, size_t, std::span<const std::byte>) override {}
  void copy_out(Buffer&, size_t, std::span<std::byte>) override {}
  std::unique_ptr<Program> encode(std::span<const PlacedNode>) override { return nullptr; }
  void run(Program&) override {}
  void wait() override {}

 private:
  size_t bytes_ = 0;
};

std::unique_ptr<Backend> open_scripted(const DeviceOptions&) {
  if (!script.cannot_open.empty()) throw Error(script.code, script.cannot_open);
  return std::make_unique<ScriptedDevice>();
}

constexpr DeviceKind kinds[] = {
    {"cpu", "the processor", false, false,
     [](const DeviceOptions& o) { return make_cpu_backend(o.threads); }},
    {"gpu", "a GPU", true, false, open_scripted},
    {"gpu-sim", "software", false, true, open_scripted},
};

/// Lines that were logged while it lives.
struct Log {
  std::string text;
  Log() {
    set_log_sink([this](LogLevel, const std::string& line) { text += line + "\n"; });
  }
  ~Log() { set_log_sink(nullptr); }
  bool has(const std::string& part) const { return text.find(part) != std::string::npos; }
};

std::shared_ptr<const Model> model() {
  static const auto loaded = Model::load(std::string(MINFER_TEST_DATA_DIR) + "/golden/qwen2-f32.gguf");
  return loaded;
}

struct Opened {
  Devices devices;
  ContextParams context;
  std::string log;
};
Opened open(const std::string& device, const std::string& layers = "", bool explain = false) {
  SessionOptions options;
  options.device = device;
  options.gpu_layers = layers;
  options.explain = explain;
  options.threads = 1;
  Opened opened;
  opened.context.n_ctx = 16;
  const Log log;
  opened.devices = open_devices(*model(), options, opened.context, kinds);
  opened.log = log.text;
  return opened;
}

template <class Call>
std::string message_of(ErrorCode code, Call&& call) {
  try {
    call();
  } catch (const Error& e) {
    CHECK(e.code == code);
    return e.what() + (" " + e.hint);
  }
  FAIL("no error");
  return {};
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("auto takes a GPU that can run the model: all of it, without the CPU") {
  script = {};
  const Opened opened = open("auto");
  CHECK(opened.devices.name() == "scripted");
  CHECK(opened.devices.cpu == nullptr);
  CHECK(opened.context.gpu);
  CHECK(opened.context.gpu_layers == 2);
  CHECK(contains(opened.log, "2 of 2 blocks on gpu"));
  CHECK(script.calls.front() == "mapping");
  CHECK(script.calls.back() == "finish");
  CHECK(script.calls.size() == model()->weights().size() + 2);
}

TEST_CASE("auto takes the CPU where no GPU can run the model, and says why") {
  script = {};
  script.cannot_open = "the driver is too old";
  Opened opened = open("auto");
  CHECK(opened.devices.name() == "cpu");
  CHECK_FALSE(opened.context.gpu);
  CHECK(contains(opened.log, "auto: not gpu: the driver is too old"));

  script = {};
  script.without_kernel = "blk.1.ffn_up.weight";
  opened = open("auto");
  CHECK(opened.devices.name() == "cpu");
  CHECK_FALSE(opened.context.gpu);
  CHECK(opened.context.gpu_layers == 0);
  CHECK(contains(opened.log, "auto: not gpu:"));
  CHECK(contains(opened.log, "no kernel multiplies blk.1.ffn_up.weight"));
  CHECK(script.calls.empty());  // decided before any weight is registered
}

TEST_CASE("a GPU that is there but broken is an error, also for auto") {
  script = {};
  script.cannot_open = "the kernel rms_norm_f32 is missing";
  script.code = ErrorCode::device;
  for (const char* device : {"auto", "gpu"})
    CHECK(contains(message_of(ErrorCode::device, [&] { open(device); }), "rms_norm_f32"));
}

TEST_CASE("a device asked for by name runs the model or is refused with the reason") {
  script = {};
  script.cannot_open = "there is none";
  CHECK(contains(message_of(ErrorCode::unsupported, [] { open("gpu"); }), "there is none"));
  script = {};
  script.without_kernel = "blk.1.ffn_up.weight";
  const std::string refusal = message_of(ErrorCode::unsupported, [] { open("gpu"); });
  CHECK(contains(refusal, "device gpu cannot run this model"));
  CHECK(contains(refusal, "blk.1.ffn_up.weight"));
  CHECK(script.calls.empty());
  // The same weight does not matter where its block stays on the CPU.
  CHECK(open("gpu", "1").devices.name() == "scripted + cpu");
  CHECK(contains(message_of(ErrorCode::unsupported, [] { open("npu"); }), "auto, cpu, gpu or gpu-sim"));
}

TEST_CASE("a simulator runs if it is named, says what it is, and is never chosen") {
  script = {};
  CHECK(contains(open("gpu-sim").log, "gpu-sim is software"));
  script.cannot_open = "there is none";
  const Opened opened = open("auto", "", true);
  CHECK(opened.devices.name() == "cpu");
  CHECK(contains(opened.log, "auto never takes gpu-sim"));
}

TEST_CASE("each side of a split gets its weights and no others") {
  script = {};
  const Opened opened = open("gpu", "1", true);
  CHECK(opened.context.gpu_layers == 1);
  CHECK(contains(opened.log, "1 of 2 blocks on gpu, the rest on cpu"));
  CHECK(contains(opened.log, "all 2 blocks"));
  CHECK(script.mapping.size() >= opened.devices.plan.weight_bytes);
  CHECK(script.mapping.size() < opened.devices.plan.weight_bytes + 2 * page_bytes());
  for (const std::string& name : script.calls)
    CHECK((name.starts_with("blk.0.") || name == "mapping" || name == "finish"));
  CHECK(opened.devices.cpu->has_weight("blk.1.attn_q.weight"));
  CHECK(opened.devices.cpu->has_weight("token_embd.weight"));
  CHECK_FALSE(opened.devices.cpu->has_weight("blk.0.attn_q.weight"));
}

TEST_CASE("a model too large for a GPU: auto splits it, a name asks for all of it") {
  script = {};
  script.memory.bytes = model()->weight_bytes();  // of which three quarters are the budget
  const Opened opened = open("auto");
  CHECK(opened.devices.plan.blocks == 1);
  CHECK(open("gpu").devices.plan.whole());
  script.memory.bytes = 64;
  CHECK(open("auto").devices.name() == "cpu");
  CHECK(contains(open("auto").log, "auto: not gpu: 0 blocks fit"));
  CHECK(contains(message_of(ErrorCode::out_of_memory, [] { open("gpu", "auto"); }),
                 "no block fits on device gpu"));
}

TEST_CASE("no blocks on a device: the CPU alone") {
  script = {};
  for (const char* device : {"auto", "gpu"}) {
    const Opened opened = open(device, "0");
    CHECK(opened.devices.name() == "cpu");
    CHECK_FALSE(opened.context.gpu);
    CHECK(opened.devices.cpu->has_weight("blk.0.attn_q.weight"));
  }
  CHECK(script.calls.empty());
}
