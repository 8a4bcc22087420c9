#include <doctest/doctest.h>

#include <stdlib.h>

#include <cmath>

#include "metal/metal_device.h"
#include "tolerance.h"
#include "worse.h"

/// A KV store and the attention that reads it as a graph has them, on the device's own choice of kernels and
/// on each that a setting leads to.
namespace minfer::test {
namespace {

struct Step {
  int64_t n_heads, n_kv_heads, head_dim, n_ctx;
  int64_t width() const { return n_heads * head_dim; }
  int64_t kv_dim() const { return n_kv_heads * head_dim; }
};

Attention attention_of(const Step& step, KvFormat format) {
  return {0,
          step.n_heads,
          step.n_kv_heads,
          step.head_dim,
          float(1 / std::sqrt(double(step.head_dim))),
          WindowKind::causal,
          format};
}

std::vector<int32_t> numbers(int64_t first, int64_t count) {
  std::vector<int32_t> all;
  for (int64_t i = 0; i < count; ++i) all.push_back(int32_t(first + i));
  return all;
}

/// Stores `rows` rows at cells 0 to rows - 1, then attends with the last `queries` of their positions. Rows
/// of k are the sum of two values, so that the store reads what the device has just written.
std::vector<float> store_and_attend(const Device& device, const Step& step, KvFormat format, int64_t rows,
                                    int64_t queries) {
  OpBench bench(device);
  Source random(21);
  const int64_t kv_dim = step.kv_dim();
  bench.regions(format, kv_dim, step.n_ctx);
  const Operand k = bench.result(kv_dim, rows), v = bench.values(kv_dim, rows, random.normals(kv_dim * rows));
  const std::vector<float> half = random.normals(kv_dim * rows);
  const Operand a = bench.values(kv_dim, rows, half),
                b = bench.values(kv_dim, rows, random.normals(kv_dim * rows));
  const Operand q = bench.values(step.width(), queries, random.normals(step.width() * queries));
  const Operand y = bench.result(step.width(), queries), region = bench.region(kv_dim);
  bench.add(Add{}, {a, b}, k);
  bench.add(KvStore{0, kv_dim, format}, {k, v, bench.indices(numbers(0, rows))}, region, "store");
  bench.add(attention_of(step, format), {q, region, bench.indices(numbers(rows - queries, queries))}, y,
            "attention");
  bench.run();
  return bench.read(y);
}

double difference(const std::vector<float>& a, const std::vector<float>& b) {
  double worst = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double off = std::abs(double(a[i]) - double(b[i]));
    worst = worse(worst, off);
  }
  return worst;
}

/// In every format, within the class of its fast kernels.
void check_against_cpu(const Step& step, int64_t rows, int64_t queries) {
  for (const KvFormat format : {KvFormat::f32, KvFormat::f16, KvFormat::q8_0}) {
    CAPTURE(name(format));
    const double allowed = format == KvFormat::f16 ? tol::metal_attention_f16 : tol::metal_attention_f32;
    CHECK(difference(store_and_attend(metal_device(), step, format, rows, queries),
                     store_and_attend(cpu_with(1), step, format, rows, queries)) <= allowed);
  }
}

TEST_CASE("metal_attn_kv_matches_cpu") {
  check_against_cpu({2, 1, 32, 8}, 4, 1);
  check_against_cpu({2, 1, 32, 8}, 4, 3);
  check_against_cpu({2, 1, 64, 8}, 4, 4);
}

TEST_CASE("metal_attn_kv_real_scale") {
  check_against_cpu({14, 2, 64, 64}, 30, 30);
}

TEST_CASE("metal_attn_decode_step") {
  check_against_cpu({14, 2, 64, 32}, 30, 1);
  if (!checked) check_against_cpu({28, 4, 128, 640}, 600, 1);
}

TEST_CASE("metal_store_after_gpu_op") { check_against_cpu({2, 1, 64, 16}, 9, 1); }

TEST_CASE("metal_store_real_dims") {
  check_against_cpu({14, 2, 64, 32768}, 30, checked ? 3 : 30);
}

TEST_CASE("every setting's kernels give the answer of the default ones") {
  struct Setting {
    std::vector<const char*> variables;
    int64_t queries;
  };
  const Setting settings[] = {{{"MINFER_NO_FLASH"}, 1},
                              {{"MINFER_NO_FLASH", "MINFER_NO_SPLIT_ATTN"}, 1},
                              {{"MINFER_PACKED_KV_STAGE"}, 1},
                              {{"MINFER_NO_PREFILL_FLASH"}, 3},
                              {{"MINFER_NO_PREFILL_FLASH", "MINFER_NO_MATMUL_ATTN"}, 3}};
  const Step step{4, 2, 64, 48};
  for (const KvFormat format : {KvFormat::f32, KvFormat::f16, KvFormat::q8_0}) {
    for (const Setting& setting : settings) {
      CAPTURE(name(format));
      CAPTURE(setting.variables.back());
      const std::vector<float> right = store_and_attend(metal_device(), step, format, 40, setting.queries);
      for (const char* variable : setting.variables) setenv(variable, "1", 1);
      const std::vector<float> found = store_and_attend(metal_device(), step, format, 40, setting.queries);
      for (const char* variable : setting.variables) unsetenv(variable);

      const bool halves = format == KvFormat::f16 && setting.queries > 1;
      CHECK(difference(found, right) <= (halves ? tol::metal_attention_f16 : tol::metal_attention_order));
    }
  }
}

TEST_CASE("barriers before every dispatch change no bit of a decode step") {
  const Step step{4, 2, 64, 48};
  for (const KvFormat format : {KvFormat::f32, KvFormat::f16, KvFormat::q8_0}) {
    const std::vector<float> planned = store_and_attend(metal_device(), step, format, 40, 1);
    setenv("MINFER_METAL_BARRIERS", "all", 1);
    CHECK(same_bits(store_and_attend(metal_device(), step, format, 40, 1), planned));
    unsetenv("MINFER_METAL_BARRIERS");
  }
}

}  // namespace
}  // namespace minfer::test
