#include <doctest/doctest.h>
#include <stdlib.h>

#include <algorithm>

#include "base/error.h"
#include "ops/op_bench.h"

namespace minfer::test {
namespace {

bool says(const Refused& r, ErrorCode code, std::initializer_list<std::string> words) {
  return r.thrown && r.code == int(code) &&
         std::all_of(words.begin(), words.end(),
                     [&](const std::string& word) { return r.message.find(word) != std::string::npos; });
}

bool untouched(OpBench& bench) {
  for (bool keys : {true, false}) {
    for (std::byte b : bench.region_bytes(keys)) {
      if (b != std::byte(0)) return false;
    }
  }
  return true;
}

bool runs(OpBench& bench, const Op& op) {
  Node node;
  node.op = op;
  return bench.backend().supports(node).ok;
}

TEST_CASE("a cell outside the region is refused before any work, and the program still runs after it") {
  for (const Device& device : devices()) {
    for (int32_t wrong : {8, 1000000, -1}) {
      OpBench bench(device);
      bench.regions(KvFormat::f32, 64, 8);
      const std::vector<float> k = Source(1).normals(3 * 64);
      const Operand x = bench.values(64, 3, k), y = bench.result(64, 3), cells = bench.indices({0, 1, wrong});
      bench.add(Add{}, {x, x}, y);
      bench.add(KvStore{0, 64, KvFormat::f32}, {x, x, cells}, bench.region(64), "blk.0.kv_store");
      bench.encode();
      const Refused r = refused([&] { bench.run(); });
      CHECK(says(r, ErrorCode::bad_request, {"blk.0.kv_store", "cell " + std::to_string(wrong), "0 to 7"}));
      CHECK(untouched(bench));
      CHECK(bench.read(y) == std::vector<float>(3 * 64));  // no step before it ran either
      bench.set(cells, std::vector<int32_t>{0, 1, 7});
      bench.run();
      CHECK(!untouched(bench));
    }
  }
}

TEST_CASE("fused arms refuse a cell outside the region too") {
  for (const Device& device : devices()) {
    OpBench bench(device);
    bench.regions(KvFormat::f16, 64, 8);
    const Operand x = bench.values(64, 1, Source(1).normals(64)), at = bench.indices({3}),
                  cells = bench.indices({8});
    const auto m = [&](const char* name) { return MatMul{bench.weight(name, DType::q8_0, 64, 64, 1), {}}; };
    const FusedQkv qkv{0, m("q"), m("k"), m("v"), {}, 2, 2, 32, KvFormat::f16};
    const WeightRef gain = bench.vector("gain", std::vector<float>(32, 1.0f));
    bench.add(qkv, {x, at, cells}, bench.result(192, 1), "plain");
    CHECK(says(refused([&] { bench.run(); }), ErrorCode::bad_request, {"plain", "cell 8"}));
    bench.add(FusedQkvNorm{qkv, gain, gain, 1e-6f}, {x, at, cells}, bench.result(192, 1), "normed");
    CHECK(says(refused([&] { bench.run(); }), ErrorCode::bad_request, {"normed", "cell 8"}));
    CHECK(untouched(bench));
  }
  const QkvBiasRopeStore epilogue{0, {}, {}, {}, {}, 2, 2, 32, KvFormat::f16};
  for (const Device& device : devices_that_run({epilogue})) {
    OpBench bench(device);
    bench.regions(KvFormat::f16, 64, 8);
    const Operand x = bench.values(64, 1, Source(1).normals(64));
    bench.add(epilogue, {x, x, x, bench.indices({3}), bench.indices({8})}, bench.result(64, 1), "epilogue");
    CHECK(says(refused([&] { bench.run(); }), ErrorCode::bad_request, {"epilogue", "cell 8"}));
    CHECK(untouched(bench));
  }
}

TEST_CASE("ids beyond the table, positions and windows beyond the region are refused with the value") {
  for (const Device& device : devices()) {
    for (int32_t id : {40, -2}) {
      OpBench bench(device);
      const WeightRef table = bench.weight("table", DType::f16, 32, 40, 1);
      bench.add(GetRows{table}, {bench.indices({1, id})}, bench.result(32, 2), "embed");
      CHECK(says(refused([&] { bench.run(); }), ErrorCode::bad_request,
                 {"embed", std::to_string(id), "0 to 39"}));
    }
    struct Case {
      WindowKind kind;
      std::vector<int32_t> window;
      std::string value;
    };
    const Case cases[] = {{WindowKind::causal, {8}, "position 8"},
                          {WindowKind::causal, {-1}, "position -1"},
                          {WindowKind::ranges, {-1, 3}, "[-1, 3)"},
                          {WindowKind::ranges, {4, 3}, "[4, 3)"},
                          {WindowKind::ranges, {0, 9}, "[0, 9)"},
                          {WindowKind::runs, {0, 2, 6, 3, 0, 0, 0, 0}, "3 rows from cell 6"},
                          {WindowKind::runs, {0, 2, 6, -1, 0, 0, 0, 0}, "-1 rows from cell 6"}};
    for (const Case& c : cases) {
      const Attention op{0, 2, 2, 32, 1.0f, c.kind, KvFormat::f32};
      OpBench bench(device);
      if (!runs(bench, op)) continue;
      bench.regions(KvFormat::f32, 64, 8);
      std::vector<Operand> sources{bench.values(64, 1, Source(1).normals(64)), bench.region(64)};
      sources.push_back(bench.indices(c.kind == WindowKind::causal ? c.window : std::vector<int32_t>{0}));
      if (c.kind != WindowKind::causal) sources.push_back(bench.indices(c.window));
      bench.add(op, sources, bench.result(64, 1), "attn");
      CHECK(says(refused([&] { bench.run(); }), ErrorCode::bad_request, {"attn", c.value}));
    }
  }
}

TEST_CASE("fused arms refuse any number of tokens but one, before they look for weights") {
  for (const Device& device : devices()) {
    OpBench bench(device);
    bench.regions(KvFormat::f32, 64, 8);
    const WeightRef nowhere{"nowhere", DType::q8_0, 64, 64};
    const Operand x = bench.values(64, 2, Source(1).normals(128)), two = bench.indices({0, 1});
    const FusedQkv qkv{0, {nowhere, {}}, {nowhere, {}}, {nowhere, {}}, {}, 2, 2, 32, KvFormat::f32};
    const WeightRef gain{"gain", DType::f32, 32, 1};
    bench.add(FusedFfn{nowhere, nowhere}, {x}, bench.result(128, 2), "ffn");
    CHECK(says(refused([&] { bench.encode(); }), ErrorCode::unsupported, {"ffn", "2 tokens"}));
    bench.add(qkv, {x, two, two}, bench.result(192, 2), "qkv");
    CHECK(says(refused([&] { bench.encode(); }), ErrorCode::unsupported, {"qkv", "2 tokens"}));
    bench.add(FusedQkvNorm{qkv, gain, gain, 1e-6f}, {x, two, two}, bench.result(192, 2), "qkv_norm");
    CHECK(says(refused([&] { bench.encode(); }), ErrorCode::unsupported, {"qkv_norm", "2 tokens"}));
  }
}

TEST_CASE("norms need their gain: none named, none registered, or of another length or type") {
  for (const Device& device : devices()) {
    OpBench bench(device);
    const Operand x = bench.values(64, 1, Source(1).normals(64)), y = bench.result(64, 1);
    const auto refusal = [&](Op op) {
      bench.add(std::move(op), {x}, y, "norm");
      return refused([&] { bench.encode(); });
    };
    CHECK(says(refusal(RmsNorm{{}, 1e-5f}), ErrorCode::unsupported, {"norm", "no weight"}));
    CHECK(says(refusal(RmsNorm{{"gain", DType::f32, 64, 1}, 1e-5f}), ErrorCode::bad_model, {"gain"}));
    CHECK(says(refusal(QkNorm{{"gain", DType::f32, 32, 1}, 32, 2, 1e-5f}), ErrorCode::bad_model, {"gain"}));
    const WeightRef half = bench.weight("half", DType::f16, 64, 1, 1);
    CHECK(says(refusal(RmsNorm{half, 1e-5f}), ErrorCode::unsupported, {"half", "F16", "F32"}));
    const WeightRef brief = bench.vector("brief", std::vector<float>(63));
    CHECK(says(refusal(RmsNorm{brief, 1e-5f}), ErrorCode::bad_model, {"brief", "63", "64"}));
    // The control differs in the length alone.
    const WeightRef right = bench.vector("right", std::vector<float>(64, 1.0f));
    CHECK(!refusal(RmsNorm{right, 1e-5f}).thrown);
  }
}

TEST_CASE("supports answers from the node alone, with the reason") {
  for (const Device& device : devices()) {
    const std::unique_ptr<Backend> backend = device.make();
    const auto why = [&](Op op) {
      Node node;
      node.op = std::move(op);
      const Support answer = backend->supports(node);
      return answer.ok ? std::string("yes") : answer.why;
    };
    const auto has = [](const std::string& text, const std::string& word) {
      return text.find(word) != std::string::npos;
    };
    CHECK(why(MatMul{{"w", DType::q6_k, 512, 3}, {}}) == "yes");
    CHECK(has(why(MatMul{{"w", DType::q6_k, 500, 3}, {}}), "blocks of 256"));
    CHECK(has(why(MatMul{{"w", DType::i32, 32, 3}, {}}), "I32"));
    CHECK(has(why(RmsNorm{{}, 1e-5f}), "no weight"));
    CHECK(why(Attention{0, 9, 3, 64, 1.0f, {}, {}}) == "yes");
    CHECK(has(why(Attention{0, 9, 2, 64, 1.0f, {}, {}}), "9 heads over 2 KV heads"));
    CHECK(has(why(Attention{0, 2, 2, 260, 1.0f, {}, {}}), "260"));
    CHECK(has(why(Attention{0, 2, 2, 34, 1.0f, {}, {}}), "34"));
    CHECK(has(why(KvStore{0, 48, KvFormat::q8_0}), "48"));
    CHECK(why(KvStore{0, 48, KvFormat::f16}) == "yes");
    CHECK(why(Input{InputKind::cells}) == "yes");
  }
}

TEST_CASE("attention refuses a window of another size, a missing region, another width") {
  for (const Device& device : devices()) {
    OpBench bench(device);
    const Operand q = bench.values(64, 2, Source(1).normals(128)), y = bench.result(64, 2);
    const Operand positions = bench.indices({0, 1});
    const Attention ranges{0, 2, 2, 32, 1.0f, WindowKind::ranges, KvFormat::f32};
    const Attention causal{0, 2, 2, 32, 1.0f, WindowKind::causal, KvFormat::f32};
    bench.add(causal, {q, q, positions}, y, "attn");
    CHECK(says(refused([&] { bench.encode(); }), ErrorCode::unsupported, {"attn", "no KV regions"}));
    bench.regions(KvFormat::f32, 64, 8);
    if (runs(bench, ranges)) {
      bench.add(ranges, {q, bench.region(64), positions, bench.indices({0, 1, 2})}, y, "attn");
      CHECK(says(refused([&] { bench.encode(); }), ErrorCode::bad_model, {"attn", "3 values", "4", "16"}));
    }
    bench.add(causal, {q, bench.region(32), positions}, y, "attn");
    CHECK(says(refused([&] { bench.encode(); }), ErrorCode::bad_model, {"attn", "[32, 8"}));
    bench.add(causal, {q, bench.region(64), positions}, y, "attn");
    CHECK(!refused([&] { bench.encode(); }).thrown);
  }
}

TEST_CASE("a name has one weight: equal bytes are welcome, others refused") {
  for (const Device& device : devices()) {
    const std::unique_ptr<Backend> backend = device.make();
    const std::vector<std::byte> data(34 * 4, std::byte(1)), copy = data, other(34 * 4, std::byte(2));
    const WeightRef ref{"w", DType::q8_0, 32, 4};
    backend->add_weight({ref, data});
    backend->add_weight({ref, data});
    backend->add_weight({ref, copy});
    CHECK(backend->has_weight("w"));
    CHECK(!backend->has_weight("v"));
    CHECK(backend->weight_bytes() == 136);
    CHECK(says(refused([&] {
                 backend->add_weight({ref, other});
               }),
               ErrorCode::bad_model, {"w", "other bytes"}));
    CHECK(says(refused([&] {
                 backend->add_weight({{"v", DType::q8_0, 32, 5}, data});
               }),
               ErrorCode::bad_model, {"136 bytes", "170"}));
  }
}

TEST_CASE("memory comes zeroed and aligned, small and large") {
  for (const Device& device : devices()) {
    const std::unique_ptr<Backend> backend = device.make();
    for (size_t bytes : {size_t(0), size_t(1), size_t(4096), size_t(9) << 20}) {
      const std::unique_ptr<Buffer> buffer = backend->allocate(bytes);
      CHECK(buffer->bytes() == bytes);
      CHECK(reinterpret_cast<uintptr_t>(buffer->host()) % 64 == 0);
      CHECK(
          std::all_of(buffer->host(), buffer->host() + bytes, [](std::byte b) { return b == std::byte(0); }));
    }
    CHECK(refused([&] { backend->allocate(SIZE_MAX / 4); }).code == int(ErrorCode::out_of_memory));
  }
}

TEST_CASE("a named call can be made to fail, and leaves the region as it was") {
  setenv("MINFER_TEST_CALL_FAIL", "cpu_run@2,other@1", 1);
  OpBench bench(cpu_with(2));
  unsetenv("MINFER_TEST_CALL_FAIL");
  bench.regions(KvFormat::f32, 64, 8);
  const std::vector<float> k = Source(1).normals(64);
  const Operand x = bench.values(64, 1, k), cells = bench.indices({3});
  bench.add(KvStore{0, 64, KvFormat::f32}, {x, x, cells}, bench.region(64));
  bench.run();
  const std::vector<std::byte> before = bench.region_bytes(true);
  bench.set(cells, std::vector<int32_t>{4});
  CHECK(refused([&] { bench.run(); }).code == int(ErrorCode::device));
  CHECK(bench.region_bytes(true) == before);
  bench.run();
  CHECK(bench.region_bytes(true) != before);

  setenv("MINFER_TEST_CALL_FAIL", "cpu_run@soon", 1);
  CHECK(refused([] { cpu_with(1).make(); }).code == int(ErrorCode::bad_request));
  unsetenv("MINFER_TEST_CALL_FAIL");
}

}  // namespace
}  // namespace minfer::test
