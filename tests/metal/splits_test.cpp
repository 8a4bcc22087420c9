#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <numeric>

#include "backends/cpu/cpu_backend.h"
#include "graph/pipeline.h"
#include "metal/metal_device.h"
#include "tolerance.h"
#include "worse.h"

/// Graphs whose nodes are on two devices: values cross through host memory.
namespace minfer::test {
namespace {

constexpr int on_metal = 0, on_cpu = 1;
constexpr int64_t vocab = 64;

/// A chain over rows of a table. `places` says where each node behind the ids runs.
struct Chain {
  using Build = std::function<void(GraphBuilder&, NodeId)>;
  int64_t width, tokens;
  Build build;
  std::vector<int> places;
  size_t splits = 0;  ///< that ran

  std::vector<float> table() const { return Source(31).normals(width * vocab); }
  std::vector<float> gain() const { return Source(32).normals(width); }

  std::vector<float> run(int runs = 1) {
    const std::vector<float> rows = table(), gains = gain();
    const std::unique_ptr<Backend> metal = make_metal_backend(), cpu = make_cpu_backend(2);
    for (Backend* backend : {metal.get(), cpu.get()}) {
      backend->add_weight({{"table", DType::f32, width, vocab}, std::as_bytes(std::span(rows))});
      backend->add_weight({{"gain", DType::f32, width, 1}, std::as_bytes(std::span(gains))});
    }
    const auto pipeline =
        Pipeline::create({metal.get(), cpu.get()}, [&](const GraphParams&) { return graph(); }, {});
    GraphParams params;
    params.n_tokens = tokens;
    params.context.n_ctx = 1;
    params.context.gpu = true;
    params.context.gpu_layers = 1;
    Executable& executable = pipeline->prepare(params);
    std::vector<int32_t> ids(static_cast<size_t>(tokens));
    for (size_t t = 0; t < ids.size(); ++t) ids[t] = int32_t(t * 7 % vocab);
    executable.set_input(InputKind::token_ids, ids);
    for (int i = 0; i < runs; ++i) executable.run();
    splits = 1;
    for (size_t i = 1; i < executable.graph().nodes.size(); ++i) {
      const auto& nodes = executable.graph().nodes;
      splits += i > 1 && nodes[i].backend != nodes[i - 1].backend;
    }
    std::vector<float> result(size_t(width * tokens));
    executable.read_output(0, result);
    return result;
  }

 private:
  Graph graph() const {
    GraphBuilder builder(1);
    const NodeId ids = builder.input(InputKind::token_ids, tokens);
    build(builder, builder.add("rows", GetRows{WeightRef{"table", DType::f32, width, vocab}}, {ids}));
    Graph graph = builder.build();
    for (size_t i = 0; i < places.size(); ++i) graph.nodes[i + 1].backend = places[i];
    return graph;
  }
};

/// y = (x + x) * x
void double_and_square(GraphBuilder& builder, NodeId x) {
  const NodeId twice = builder.add("twice", Add{}, {x, x});
  builder.output(builder.add("product", Mul{}, {twice, x}));
}

void check_copies(int64_t width, int64_t tokens) {
  Chain chain{width, tokens, double_and_square, {on_cpu, on_metal, on_cpu}};
  const std::vector<float> found = chain.run(), rows = chain.table();
  CHECK(chain.splits == 3);
  std::vector<float> right(found.size());
  for (int64_t t = 0; t < tokens; ++t) {
    for (int64_t i = 0; i < width; ++i) {
      const float x = rows[size_t(t * 7 % vocab * width + i)];
      right[size_t(t * width + i)] = (x + x) * x;
    }
  }
  CHECK(same_bits(found, right));
}

TEST_CASE("metal_cross_backend_copy") { check_copies(4, 1); }

TEST_CASE("metal_cross_backend_copy_large") { check_copies(4096, 8); }

double largest(const std::vector<float>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0,
                         [](double most, float x) { return std::max(most, std::abs(double(x))); });
}

double worst_difference(const std::vector<float>& a, const std::vector<float>& b) {
  double worst = 0;
  for (size_t i = 0; i < a.size(); ++i) worst = worse(worst, std::abs(double(a[i]) - double(b[i])));
  return worst;
}

TEST_CASE("metal_embed_then_rmsnorm_cross_backend") {
  const auto build = [](GraphBuilder& builder, NodeId x) {
    builder.output(builder.add("norm", RmsNorm{{"gain", DType::f32, 896, 1}, 1e-6f}, {x}));
  };
  Chain split{896, 4, build, {on_cpu, on_metal}}, single{896, 4, build, {on_cpu, on_cpu}};
  const std::vector<float> found = split.run(), right = single.run();
  CHECK(split.splits == 2);
  CHECK(single.splits == 1);
  CHECK(worst_difference(found, right) <= (tol::metal_rms_norm(896) + tol::rms_norm(896)) * largest(right));
}

TEST_CASE("metal_multi_split_alternation") {
  // Sums, products and norms in turn, each on the other device than the one before; x is read across several
  // splits.
  const auto build = [](GraphBuilder& builder, NodeId x) {
    const RmsNorm norm{{"gain", DType::f32, 64, 1}, 1e-6f};
    const NodeId a = builder.add("a", Add{}, {x, x}), b = builder.add("b", norm, {a}),
                 c = builder.add("c", Mul{}, {b, x});
    const NodeId d = builder.add("d", norm, {c}), e = builder.add("e", Add{}, {d, a});
    builder.output(builder.add("f", Mul{}, {e, x}));
  };
  const std::vector<int> alternating = {on_cpu, on_metal, on_cpu, on_metal, on_cpu, on_metal, on_cpu};
  Chain split{64, 4, build, alternating}, single{64, 4, build, std::vector<int>(7, on_cpu)};
  const std::vector<float> found = split.run(), right = single.run();
  CHECK(split.splits == 7);
  // Two norms and four products: each passes on the relative error that it was given.
  CHECK(worst_difference(found, right) <= 4 * (tol::metal_rms_norm(64) + tol::rms_norm(64)) * largest(right));
  CHECK(same_bits(split.run(2), found));
}

}  // namespace
}  // namespace minfer::test
