#include "engine/device_plan.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <functional>

#include "backends/registry.h"
#include "base/error.h"
#include "engine/devices.h"

using namespace minfer;

namespace {

struct Environment {
  const char* variable;
  Environment(const char* key, const char* value) : variable(key) { ::setenv(key, value, 1); }
  ~Environment() { ::unsetenv(variable); }
};

std::shared_ptr<const Model> model(const char* name = "qwen2-f32") {
  return Model::load(std::string(MINFER_TEST_DATA_DIR) + "/golden/" + name + ".gguf");
}

/// A device that is only asked what it could do.
class AskedDevice final : public Backend {
 public:
  MemoryAnswer answer{MemoryAnswer::State::reported, size_t(1) << 40, {}};
  std::function<Support(const Node&)> support = [](const Node&) { return Support::yes(); };

  std::string_view name() const override { return "asked"; }
  Support supports(const Node& node) const override { return support(node); }
  MemoryAnswer memory() const override { return answer; }
  void add_weight(const Weight&) override { unasked(); }
  bool has_weight(std::string_view) const override { return false; }
  size_t weight_bytes() const override { return 0; }
  std::unique_ptr<Buffer> allocate(size_t) override { return unasked(), nullptr; }
  void copy_in(Buffer&, size_t, std::span<const std::byte>) override { unasked(); }
  void copy_out(Buffer&, size_t, std::span<std::byte>) override { unasked(); }
  std::unique_ptr<Program> encode(std::span<const PlacedNode>) override { return unasked(), nullptr; }
  void run(Program&) override { unasked(); }
  void wait() override { unasked(); }

 private:
  static void unasked() { FAIL("a plan only asks"); }
};

ContextParams context() {
  ContextParams c;
  c.n_ctx = 16;
  c.gpu = true;
  return c;
}

DevicePlan plan(const AskedDevice& device, const std::string& layers) {
  return plan_device(*model(), device, context(), layer_request(layers));
}

size_t bytes_of(const Model& m, const std::function<bool(const std::string&)>& wanted) {
  size_t sum = 0;
  for (const Weight& weight : m.weights())
    if (wanted(weight.ref.name)) sum += weight.data.size();
  return sum;
}

bool in_block(const std::string& name, int block) {
  return name.starts_with("blk." + std::to_string(block) + ".");
}

bool any_has(const std::vector<std::string>& lines, const std::string& text) {
  return std::any_of(lines.begin(), lines.end(),
                     [&](const auto& l) { return l.find(text) != std::string::npos; });
}

template <class Call>
void check_error(ErrorCode code, const std::vector<std::string>& named, Call&& call) {
  try {
    call();
    FAIL("no error");
  } catch (const Error& e) {
    CHECK(e.code == code);
    const std::string text = e.what() + (" " + e.hint);
    for (const std::string& word : named) CHECK_MESSAGE(text.find(word) != std::string::npos, text);
  }
}

}  // namespace

TEST_CASE("what --gpu-layers and MINFER_GPU_LAYERS say") {
  CHECK(layer_request("").kind == LayerRequest::Kind::all);
  CHECK(layer_request("auto").kind == LayerRequest::Kind::fit);
  CHECK(layer_request("12").count == 12);
  for (const char* wrong : {"-1", "x", "3x", " 3", "99999999999999999999"})
    check_error(ErrorCode::bad_request, {wrong, "--gpu-layers"}, [&] { layer_request(wrong); });
  const Environment variable("MINFER_GPU_LAYERS", "7");
  CHECK(layer_request("").count == 7);
  CHECK(layer_request("2").count == 2);  // the option wins
  const Environment wrong("MINFER_GPU_LAYERS", "all");
  check_error(ErrorCode::bad_request, {"MINFER_GPU_LAYERS", "all"}, [&] { layer_request(""); });
}

TEST_CASE("blocks on a device are a prefix; what is outside the blocks follows the last of them") {
  const AskedDevice device;
  const auto m = model();
  const DevicePlan one = plan(device, "1");
  CHECK(one.blocks == 1);
  CHECK(one.of == 2);
  CHECK_FALSE(one.whole());
  CHECK(one.weight_bytes == bytes_of(*m, [](const std::string& n) { return in_block(n, 0); }));
  CHECK(one.device_weights.count("blk.0.attn_q.weight") == 1);
  CHECK(one.host_weights.count("blk.0.attn_q.weight") == 0);
  for (const char* host : {"blk.1.attn_q.weight", "token_embd.weight", "output_norm.weight"}) {
    CHECK(one.host_weights.count(host) == 1);
    CHECK(one.device_weights.count(host) == 0);
  }
  CHECK(any_has(one.notes, "all 2 blocks"));
  for (const char* all : {"", "2", "99"}) {
    const DevicePlan whole = plan(device, all);
    CHECK(whole.whole());
    CHECK(whole.weight_bytes == m->weight_bytes());
    CHECK(whole.host_weights.empty());
    CHECK(whole.notes.empty());
  }
  CHECK(plan(device, "0").device_weights.empty());
}

TEST_CASE("a weight that several blocks name is on both sides of a split") {
  const AskedDevice device;
  const DevicePlan split = plan_device(*model("llama3rope-bf16"), device, context(), layer_request("1"));
  CHECK(split.device_weights.count("rope_freqs.weight") == 1);
  CHECK(split.host_weights.count("rope_freqs.weight") == 1);
}

TEST_CASE("auto takes the largest prefix that leaves a quarter of the budget") {
  const auto m = model();
  const size_t first = bytes_of(*m, [](const std::string& n) { return in_block(n, 0); });
  const size_t second = bytes_of(*m, [](const std::string& n) { return in_block(n, 1); });
  AskedDevice device;
  // The budget is three quarters of what the device reports, and weights may take three quarters of that.
  const auto with_room_for = [&](size_t weights) {
    device.answer.bytes = (weights + 2) / 3 * 16 / 3 + 16;
    return plan(device, "auto");
  };
  CHECK(with_room_for(first - 64).blocks == 0);
  CHECK(with_room_for(first).blocks == 1);
  CHECK(with_room_for(first + second).blocks == 1);  // embedding and norm do not fit beside the last block
  CHECK(any_has(with_room_for(first).notes, "1 blocks fit"));
  CHECK(with_room_for(m->weight_bytes()).whole());
  const Environment budget("MINFER_GPU_MEM", "1");  // MiB, whatever the device reports
  CHECK(plan(device, "auto").blocks == (first <= (size_t(1) << 20) / 4 * 3 ? 1 : 0));
}

TEST_CASE("auto needs to know the memory: a failed question is an error, a fixed number of blocks is not") {
  AskedDevice device;
  device.answer = {MemoryAnswer::State::failed, 0, "the driver went away"};
  check_error(ErrorCode::device, {"the driver went away", "--gpu-layers"}, [&] { plan(device, "auto"); });
  CHECK(plan(device, "1").blocks == 1);
  CHECK(plan(device, "").whole());
}

TEST_CASE("a node without a kernel is an obstacle by name, where it would be on the device") {
  AskedDevice device;
  device.support = [](const Node& node) {
    const auto* matmul = std::get_if<MatMul>(&node.op);
    if (!matmul || matmul->weight.name != "blk.1.ffn_down.weight") return Support::yes();
    return Support::no("weight " + matmul->weight.name + " is of a strange type");
  };
  const DevicePlan all = plan(device, "");
  REQUIRE(all.obstacles.size() == 1);
  CHECK(all.obstacle_text().find("blk.1.ffn_down.weight is of a strange type") != std::string::npos);
  CHECK(plan(device, "1").obstacles.empty());
}

TEST_CASE("KV rows of a device are f16 from 8192 values a token on") {
  const auto format = [](int64_t layers, int64_t kv_heads, int64_t head_dim) {
    Hyperparams h;
    h.n_layers = layers, h.n_kv_heads = kv_heads, h.head_dim = head_dim;
    return device_kv_format(h);
  };
  CHECK(format(24, 2, 64) == KvFormat::f32);   // 3072
  CHECK(format(28, 2, 128) == KvFormat::f32);  // 7168
  CHECK(format(32, 4, 64) == KvFormat::f16);   // 8192
  CHECK(format(28, 4, 128) == KvFormat::f16);  // 14336
  CHECK(format(28, 8, 128) == KvFormat::f16);  // 28672
}

TEST_CASE("device names: those of this build, and no other") {
  CHECK(device_kinds().front().name == "cpu");
  CHECK_NOTHROW(device_kind("cpu"));
  for (const char* wrong : {"", "CPU", "teapot", "metal:0"})
    check_error(ErrorCode::unsupported, {"not in this build", device_choices()}, [&] { device_kind(wrong); });
  for (const DeviceKind& kind : device_kinds()) {
    CHECK(device_choices().find(kind.name) != std::string::npos);
    CHECK_FALSE((kind.automatic && kind.simulated));
  }
}

TEST_CASE("the CPU takes no blocks of a device") {
  SessionOptions options;
  options.device = "cpu";
  options.n_ctx = 16;
  options.gpu_layers = "1";
  check_error(ErrorCode::bad_request, {"cpu", "--gpu-layers"}, [&] { Session::create(model(), options); });
  options.gpu_layers = "0";
  CHECK(Session::create(model(), options)->device() == "cpu");
  options.gpu_layers = "";
  const Environment variable("MINFER_GPU_LAYERS", "1");  // of no use here, and no contradiction
  CHECK(Session::create(model(), options)->device() == "cpu");
}
