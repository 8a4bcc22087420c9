/// The test kernels against references, in every order of lanes. Built with the checked kernels no report may
/// come. This is also the suite that the mutation tool runs: each size that a kernel treats in its own way is
/// here.
#include <doctest/doctest.h>

#include <string>
#include <thread>

#include "support/launch.h"
#include "tests/kernels/references.h"
#include "tests/tolerance.h"

using namespace metalsim;
using test::Buffer;
using test::Data;
using test::Launch;

namespace {

/// Compares with a tolerance relative to the root mean square of the reference.
void check_close(const float* got, const std::vector<double>& want, double tolerance) {
  double square = 0;
  for (double w : want) square += w * w;
  const double scale = std::sqrt(square / double(want.size())) + 1e-30;
  size_t bad = 0;
  double worst = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    const double error = std::fabs(got[i] - want[i]) / scale;
    worst = error > worst || std::isnan(error) ? error : worst;
    bad += !(error <= tolerance);
  }
  INFO("worst error ", worst, ", tolerance ", tolerance);
  CHECK(bad == 0);
}

void check_silent() {
  for (const Report& report : reports()) FAIL_CHECK(report.text());
}

void test_matrix_vector(int M, int K, int rows) {
  CAPTURE(M);
  CAPTURE(K);
  const int simdgroups = 2, blocks = M * K / 32;
  Data data(uint32_t(M + K));
  Buffer w(size_t(blocks) * sizeof(block_q4_0)), x(size_t(K) * 4), y(size_t(M) * 4, 0xff, false);
  data.fill_blocks(w.as<block_q4_0>(), size_t(blocks), 0.1f);
  data.fill(x.as<float>(), size_t(K));
  Launch(rows == 4 ? "mul_mv_q4_0_f32" : "mul_mv_q4_0_f32_2")
      .bytes(0, mv_args{K, M})
      .buffer(1, w)
      .buffer(2, x)
      .buffer(3, y)
      .constant(0, simdgroups)
      .run(uint32_t((M + rows * simdgroups - 1) / (rows * simdgroups)), uint32_t(32 * simdgroups));
  check_close(y.as<float>(), test::multiply(w.as<block_q4_0>(), x.as<float>(), M, K, 1),
              8 * tolerance::float_sum(K));
}

template <class Block>
void test_matrix(const char* kernel, int M, int K, int N) {
  CAPTURE(M);
  CAPTURE(K);
  CAPTURE(N);
  Data data(uint32_t(M + K + N));
  Buffer a(size_t(M) * K / 32 * sizeof(Block)), b(size_t(N) * K * 4), c(size_t(N) * M * 4, 0xff, false);
  data.fill_blocks(a.as<Block>(), size_t(M) * K / 32, 0.02f);
  data.fill(b.as<float>(), size_t(N) * K);
  Launch(kernel)
      .bytes(0, mm_args{K, M, N})
      .buffer(1, a)
      .buffer(2, b)
      .buffer(3, c)
      .threadgroup(0, 8192)
      .run(uint32_t((N + 31) / 32), uint32_t((M + 63) / 64), 1, 128);
  check_close(c.as<float>(), test::multiply(a.as<Block>(), b.as<float>(), M, K, N),
              tolerance::half_product_sum(K));
}

/// `growth`: the last key is that many times as large as the first, so that later chunks outweigh earlier
/// ones.
void test_attention(int queries, int n_kv, bool causal, int simdgroups, float growth = 1) {
  CAPTURE(queries);
  CAPTURE(n_kv);
  CAPTURE(growth);
  const int heads = 4, kv_heads = 2, D = 64;
  const fa_args args{n_kv, heads, kv_heads, kv_heads * D, 0.125f};
  Data data(uint32_t(queries * 1000 + n_kv));
  Buffer q(size_t(queries) * heads * D * 4), k(size_t(n_kv) * kv_heads * D * 2),
      v(size_t(n_kv) * kv_heads * D * 2);
  Buffer o(q.bytes(), 0xff, false);
  data.fill(q.as<float>(), q.bytes() / 4, 2);
  for (int j = 0; j < n_kv; ++j)
    data.fill_half(k.as<uint16_t>() + j * kv_heads * D, kv_heads * D,
                   2 * (1 + (growth - 1) * float(j) / float(n_kv)));
  data.fill_half(v.as<uint16_t>(), v.bytes() / 2, 1);
  Launch("flash_attn_vec_d64")
      .bytes(0, args)
      .buffer(1, q)
      .buffer(2, k)
      .buffer(3, v)
      .buffer(4, o)
      .constant(0, causal)
      .threadgroup(0, uint32_t(simdgroups * (32 + D + 2) * 4))
      .run(uint32_t(queries), heads, 1, uint32_t(32 * simdgroups));
  // exp() makes a relative error of a score's absolute one: of at most q k D scale, more than 4 growth.
  check_close(o.as<float>(),
              test::attention(args, q.as<float>(), k.as<uint16_t>(), v.as<uint16_t>(), queries, D, causal),
              16 * tolerance::float_sum(n_kv + D) + 4 * growth * tolerance::float_sum(D));
}

void test_norm(int n, uint32_t threads) {
  CAPTURE(n);
  Data data{uint32_t(n)};
  Buffer x(size_t(n) * 4), w(size_t(n) * 4), y(size_t(n) * 4, 0xff, false);
  data.fill(x.as<float>(), size_t(n));
  data.fill(w.as<float>(), size_t(n));
  Launch("rms_norm_f32")
      .buffer(0, x)
      .buffer(1, w)
      .buffer(2, y)
      .bytes(3, n)
      .threadgroup(0, 128)
      .run(1, threads);
  double square = 0;
  for (int i = 0; i < n; ++i) square += double(x.as<float>()[i]) * x.as<float>()[i];
  std::vector<double> want(n);
  for (int i = 0; i < n; ++i) want[i] = x.as<float>()[i] / std::sqrt(square / n + 1e-5) * w.as<float>()[i];
  check_close(y.as<float>(), want, 4 * tolerance::float_sum(n));
}

void in_every_order(void (*test)()) {
  for (Order order : {Order::ascending, Order::descending, Order::random}) {
    CAPTURE(int(order));
    Options options;
    options.order = order;
    options.print_reports = false;
    set_options(options);
    clear_reports();
    test();
    check_silent();
  }
}

}  // namespace

TEST_CASE("matrix-vector products of rows that do and do not fill a threadgroup") {
  in_every_order([] {
    test_matrix_vector(64, 256, 4);
    test_matrix_vector(37, 544, 4);
    test_matrix_vector(5, 32, 2);
    test_matrix_vector(9, 1056, 2);
  });
}

TEST_CASE("matrix products of whole tiles and of tiles at either edge") {
  in_every_order([] {
    test_matrix<block_q8_0>("mul_mm_q8_0_f32", 64, 64, 32);
    test_matrix<block_q8_0>("mul_mm_q8_0_f32", 100, 96, 37);
    test_matrix<block_q4_0>("mul_mm_q4_0_f32", 65, 32, 31);
    test_matrix<block_q4_0>("mul_mm_q4_0_f32", 128, 64, 5);
  });
}

TEST_CASE("attention over part, all and several chunks of the cache") {
  in_every_order([] {
    test_attention(1, 128, true, 4);
    test_attention(5, 77, true, 4);
    test_attention(2, 3, true, 2);
    test_attention(3, 40, false, 2);
    test_attention(1, 300, true, 4);  // several chunks for a simdgroup
    test_attention(2, 70, true, 1);
    test_attention(1, 64, true, 4);        // none for two of them
    test_attention(1, 128, true, 4, 100);  // scores so far apart that a wrong maximum overflows
  });
}

TEST_CASE("normalisation and addition") {
  in_every_order([] {
    test_norm(576, 192);
    test_norm(33, 64);
    const uint32_t n = 100;
    Buffer a(n * 4), b(n * 4), c(n * 4, 0xff, false);
    Data data(1);
    data.fill(a.as<float>(), n);
    data.fill(b.as<float>(), n);
    Launch("add_f32").buffer(0, a).buffer(1, b).buffer(2, c).bytes(3, n).run(2, 64);
    std::vector<double> want(n);
    for (uint32_t i = 0; i < n; ++i) want[i] = a.as<float>()[i] + b.as<float>()[i];
    check_close(c.as<float>(), want, 0);
  });
}

TEST_CASE("a report from a GPU thread, whose small stack the debug information must not run over") {
  if (!test::find_kernel("mul_mv_q4_0_f32")->unit->checked) return;
  Options options;
  options.print_reports = false;
  set_options(options);
  clear_reports();
  // On a core of its own, the first thread has the lowest stack: below it nothing can be written.
  std::thread([] {
    const int M = 4, K = 32;
    Buffer w(M * sizeof(block_q4_0)), x(K * 4), y(M * 4, 0xff, false);
    BarrierRegion region;
    for (int i = 0; i < 2; ++i)
      Launch("mul_mv_q4_0_f32")
          .bytes(0, mv_args{K, M})
          .buffer(1, w)
          .buffer(2, x)
          .buffer(3, y)
          .constant(0, 1)
          .run(1, 32, &region);
  }).join();
  REQUIRE(reports().size() == 1);
  CHECK(reports()[0].kind == ReportKind::missing_barrier);
  CHECK(reports()[0].place.file == "mv.metal");
  CHECK(reports()[0].place.line > 0);
}

TEST_CASE("a kernel knows the size of its threadgroup variables before it runs") {
  CHECK(*test::find_kernel("reversed_float_64")->static_threadgroup_bytes == 256 + 512 + 80 + 16);
  CHECK(*test::find_kernel("reversed_int_32")->static_threadgroup_bytes == 128 + 256 + 80 + 16);
  CHECK(*test::find_kernel("add_f32")->static_threadgroup_bytes == 0);
}
