#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <functional>

#include "backends/metal/ops/ops.h"
#include "base/error.h"
#include "metal/metal_device.h"
#include "ops/reference.h"
#include "tolerance.h"
#include "worse.h"

using namespace minfer;
using namespace minfer::test;

namespace {

/// Sets a variable for one scope; a backend reads it when it is made.
struct Environment {
  const char* variable;
  Environment(const char* name, const char* value) : variable(name) { ::setenv(name, value, 1); }
  ~Environment() { ::unsetenv(variable); }
};

std::vector<float> gains(Source& source, int64_t width) {
  std::vector<float> gain = source.normals(width);
  for (float& g : gain) g = 1.0f + 0.25f * g;
  return gain;
}

/// Runs twice from the same memory: the second run must write the same bits.
std::vector<float> run_twice(OpBench& bench, const Operand& y) {
  bench.run();
  const std::vector<float> first = bench.read(y);
  bench.run();
  CHECK(same_bits(bench.read(y), first));
  return first;
}

struct NormCase {
  int64_t width, rows;
  float eps = 1e-5f;
};

std::vector<float> norm(const NormCase& c, const std::vector<float>& x, const std::vector<float>& gain) {
  OpBench bench(metal_device());
  const WeightRef weight = bench.vector("gain", gain);
  const Operand y = bench.result(c.width, c.rows);
  bench.add(RmsNorm{weight, c.eps}, {bench.values(c.width, c.rows, x)}, y);
  return run_twice(bench, y);
}

void check_norm(const std::vector<float>& found, const std::vector<float>& x, const std::vector<float>& gain,
                float eps) {
  const reference::Doubles right = reference::rms_norm(x, gain, double(eps));
  REQUIRE(found.size() == right.size());
  double worst = 0;
  for (size_t i = 0; i < right.size(); ++i) {
    const double allowed = tol::metal_rms_norm(double(gain.size())) * std::abs(right[i]) + tol::smallest_f32;
    worst = worse(worst, std::abs(double(found[i]) - right[i]) / allowed);
  }
  CHECK(worst <= 1.0);
}

const std::vector<int64_t> widths = {1, 3, 8, 33, 64, 80, 127, 128, 129, 576, 896, 1000, 1023, 1025, 4864};

/// The kernel that a norm of rows of `width` values is given.
std::string norm_kernel(int64_t width, const metal::Settings& settings) {
  const metal::AutoreleasePool pool;
  const auto device = metal::Device::open();
  const metal::WeightRegistry weights(*device, false);
  metal::ScratchPool scratch;
  metal::MetalProgram program;
  metal::Encoder encoder(*device, settings, weights, scratch, program);
  const auto memory = device->new_buffer(size_t(width) * sizeof(float), "row");
  const metal::Span span{memory.get(), 0, size_t(width) * sizeof(float)};
  Node node;
  node.op = RmsNorm{};
  emit_norm(encoder, node, {span, width, 1}, {span, width, 1}, width, span, 1e-5f);
  return program.dispatches.at(0).pipeline->name;
}

struct RopeCase {
  RopeStyle style;
  int64_t head_dim, n_heads;
  bool with_factors;
  float base, scale;
};

/// Unit vectors, so that an error of the angle is an error of the value.
std::vector<float> unit_pairs(Source& source, const RopeCase& c, int64_t tokens) {
  std::vector<float> x(size_t(c.head_dim * c.n_heads * tokens));
  const int64_t pairs = c.head_dim / 2;
  for (int64_t head = 0; head < c.n_heads * tokens; ++head) {
    for (int64_t i = 0; i < pairs; ++i) {
      const double angle = double(source.normal()) * 3.0;
      const int64_t a = c.style == RopeStyle::interleaved ? 2 * i : i;
      const int64_t b = c.style == RopeStyle::interleaved ? 2 * i + 1 : i + pairs;
      x[size_t(head * c.head_dim + a)] = float(std::cos(angle));
      x[size_t(head * c.head_dim + b)] = float(std::sin(angle));
    }
  }
  return x;
}

/// Refused without the gain; the control differs in nothing but the gain being there.
void check_absent_gain(const std::function<Op(const WeightRef&)>& norm_with) {
  for (const bool present : {false, true}) {
    OpBench bench(metal_device());
    WeightRef gain{"blk.4.gain", DType::f32, 8, 1};
    if (present) gain = bench.vector(gain.name, std::vector<float>(8, 1.0f));
    const Operand x = bench.values(8, 1, std::vector<float>(8, 2.0f)), y = bench.result(8, 1);
    bench.add(norm_with(gain), {x}, y, "blk.4.norm");
    const Refused answer = refused([&] { bench.run(); });
    CHECK(answer.thrown == !present);
    if (present) CHECK(same_bits(bench.read(y), std::vector<float>(8, 1.0f)));
    if (present) continue;
    CHECK(answer.code == int(ErrorCode::bad_model));
    CHECK(answer.message.find("blk.4.norm") != std::string::npos);
    CHECK(answer.message.find("blk.4.gain") != std::string::npos);
  }
}

}  // namespace

// Widths around every edge of the kernels; a real model's rows of 896 are among them.
TEST_CASE("metal_rmsnorm_matches_cpu_real_scale") {
  Source source(11);
  for (const int64_t width : widths) {
    for (const int64_t rows : {1, 3, 8}) {
      if (checked && width > 1100 && rows > 1) continue;
      CAPTURE(width);
      CAPTURE(rows);
      const NormCase c{width, rows};
      const std::vector<float> x = source.normals(width * rows), gain = gains(source, width);
      check_norm(norm(c, x, gain), x, gain, c.eps);
    }
  }
}

TEST_CASE("metal_rmsnorm_matches_cpu") {
  Source source(12);
  std::vector<float> x = source.normals(8 * 3);
  const std::vector<float> gain = gains(source, 8);
  check_norm(norm({8, 3, 1e-5f}, x, gain), x, gain, 1e-5f);
  for (float& value : x) value *= 1e-3f;  // now epsilon counts
  check_norm(norm({8, 3, 1e-5f}, x, gain), x, gain, 1e-5f);
  check_norm(norm({8, 3, 1e-6f}, x, gain), x, gain, 1e-6f);
}

TEST_CASE("the norm by one simdgroup has the bits of the norm by 256 threads") {
  Source source(13);
  for (const int64_t width : widths) {
    CAPTURE(width);
    const NormCase c{width, 3};
    const std::vector<float> x = source.normals(width * c.rows), gain = gains(source, width);
    const std::vector<float> by_group = norm(c, x, gain);
    const Environment one("MINFER_NO_RMS_256", "1");
    CHECK(same_bits(norm(c, x, gain), by_group));
  }
}

TEST_CASE("heads are normalised by one simdgroup, long rows by a threadgroup unless that is switched off") {
  CHECK(norm_kernel(128, {}) == "rms_norm_simd_f32");
  CHECK(norm_kernel(576, {}) == "rms_norm_f32");
  const Environment one("MINFER_NO_RMS_256", "1");
  CHECK(norm_kernel(576, metal::Settings::from_environment()) == "rms_norm_simd_f32");
}

TEST_CASE("each head is normalised alone, in place or not") {
  Source source(14);
  for (const int64_t head_dim : {64, 80, 128, 256}) {
    for (const int64_t tokens : {1, 3, 8}) {
      CAPTURE(head_dim);
      CAPTURE(tokens);
      const int64_t n_heads = 3, width = head_dim * n_heads;
      const std::vector<float> x = source.normals(width * tokens), gain = gains(source, head_dim);
      OpBench bench(metal_device());
      const QkNorm op{bench.vector("gain", gain), head_dim, n_heads, 1e-6f};
      const Operand in = bench.values(width, tokens, x), y = bench.result(width, tokens);
      bench.add(op, {in}, y);
      const std::vector<float> found = run_twice(bench, y);
      check_norm(found, x, gain, op.eps);
      bench.add(op, {in}, in);
      bench.run();
      CHECK(same_bits(bench.read(in), found));
    }
  }
}

TEST_CASE("a long row is normalised in place") {
  Source source(15);
  const std::vector<float> x = source.normals(2 * 1000), gain = gains(source, 1000);
  OpBench bench(metal_device());
  const RmsNorm op{bench.vector("gain", gain), 1e-5f};
  const Operand in = bench.values(1000, 2, x), y = bench.result(1000, 2);
  bench.add(op, {in}, y);
  bench.add(op, {in}, in);
  bench.run();
  CHECK(same_bits(bench.read(in), bench.read(y)));
}

TEST_CASE("metal_rms_norm_refuses_a_weightless_node") {
  OpBench bench(metal_device());
  const Operand x = bench.values(8, 1, std::vector<float>(8, 1.0f));
  bench.add(RmsNorm{{}, 1e-5f}, {x}, bench.result(8, 1), "blk.4.attn_norm");
  const Refused answer = refused([&] { bench.encode(); });
  CHECK(answer.thrown);
  CHECK(answer.message.find("blk.4.attn_norm") != std::string::npos);
  CHECK(answer.message.find("names no weight") != std::string::npos);
}

TEST_CASE("metal_rms_norm_refuses_a_weight_not_on_gpu") {
  check_absent_gain([](const WeightRef& gain) { return RmsNorm{gain, 0.0f}; });
}

TEST_CASE("metal_qk_norm_refuses_a_weight_not_on_gpu") {
  check_absent_gain([](const WeightRef& gain) { return QkNorm{gain, 8, 1, 0.0f}; });
}

TEST_CASE("metal rope turns unit vectors by the angle of a double calculation, near and far") {
  const RopeCase cases[] = {{RopeStyle::split_half, 64, 9, false, 10000.0f, 1.0f},
                            {RopeStyle::interleaved, 64, 3, true, 500000.0f, 1.0f},
                            {RopeStyle::split_half, 128, 5, false, 1000000.0f, 0.25f},
                            {RopeStyle::interleaved, 36, 4, false, 10000.0f, 8.0f},
                            {RopeStyle::split_half, 80, 1, true, 10000.0f, 1.0f},
                            {RopeStyle::interleaved, 256, 2, false, 10000.0f, 1.0f},
                            {RopeStyle::split_half, 2, 1, false, 10000.0f, 1.0f}};
  const std::vector<int32_t> positions{0, 1, 4095, 32767, 17, 131071};
  for (const RopeCase& c : cases) {
    for (const size_t tokens : {size_t(1), size_t(3), positions.size()}) {
      CAPTURE(c.head_dim);
      CAPTURE(tokens);
      OpBench bench(metal_device());
      Source source(uint32_t(c.head_dim));
      const int64_t width = c.n_heads * c.head_dim;
      const std::vector<float> x = unit_pairs(source, c, int64_t(tokens));
      std::vector<float> factors;
      RopeParams rope{c.style, c.base, c.scale, {}};
      if (c.with_factors) {
        for (int64_t i = 0; i < c.head_dim / 2; ++i) factors.push_back(1.0f + 0.25f * float(i));
        rope.factors = bench.vector("rope_freqs", factors);
      }
      const std::vector<int32_t> at(positions.end() - std::ptrdiff_t(tokens), positions.end());
      const Operand in = bench.values(width, int64_t(tokens), x), y = bench.result(width, int64_t(tokens));
      const Operand where = bench.indices(at);
      bench.add(Rope{rope, c.head_dim, c.n_heads}, {in, where}, y);
      const std::vector<float> found = run_twice(bench, y);
      double worst = 0;
      for (size_t head = 0; head < tokens * size_t(c.n_heads); ++head) {
        const reference::Doubles right = reference::rope(
            x.data() + head * size_t(c.head_dim), c.head_dim, c.style == RopeStyle::interleaved,
            double(c.base), double(c.scale), factors, at[head / size_t(c.n_heads)]);
        for (size_t i = 0; i < right.size(); ++i)
          worst = worse(worst, std::abs(double(found[head * right.size() + i]) - right[i]));
      }
      CHECK(worst <= tol::metal_rope);
      bench.add(Rope{rope, c.head_dim, c.n_heads}, {in, where}, in);
      bench.run();
      CHECK(same_bits(bench.read(in), found));
    }
  }
}

TEST_CASE(
    "positions are data: a program turns by those of each run, and refuses a negative one before any work") {
  const RopeParams rope{RopeStyle::split_half, 10000.0f, 1.0f, {}};
  OpBench bench(metal_device());
  std::vector<float> x(8, 0.0f);
  x[0] = 1.0f;
  const Operand where = bench.indices({0}), y = bench.result(8, 1);
  bench.add(Rope{rope, 8, 1}, {bench.values(8, 1, x), where}, y, "blk.2.rope");
  bench.run();
  CHECK(same_bits(bench.read(y), x));
  bench.set(where, std::vector<int32_t>{2});
  bench.run();
  const std::vector<float> turned = bench.read(y);
  CHECK(std::abs(double(turned[0]) - std::cos(2.0)) <= tol::metal_rope);
  CHECK(std::abs(double(turned[4]) - std::sin(2.0)) <= tol::metal_rope);
  bench.set(where, std::vector<int32_t>{-1});
  const Refused answer = refused([&] { bench.run(); });
  CHECK(answer.thrown);
  CHECK(answer.code == int(ErrorCode::bad_request));
  CHECK(answer.message.find("blk.2.rope") != std::string::npos);
  CHECK(same_bits(bench.read(y), turned));
}

TEST_CASE("rope factors that no angle can come from are refused") {
  OpBench bench(metal_device());
  RopeParams rope{RopeStyle::interleaved, 10000.0f, 1.0f, {}};
  rope.factors = bench.vector("rope_freqs", {1.0f, 0.0f});
  const Operand y = bench.result(4, 1);
  bench.add(Rope{rope, 4, 1}, {bench.values(4, 1, {1, 2, 3, 4}), bench.indices({0})}, y);
  const Refused answer = refused([&] { bench.encode(); });
  CHECK(answer.thrown);
  CHECK(answer.message.find("pair 1") != std::string::npos);
}
