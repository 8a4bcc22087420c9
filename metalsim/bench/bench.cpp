/// One decode token and a 64-token prefill of a model of 135M parameters (30 layers, width 576, vocabulary
/// 49,152), as a chain of dispatches in one concurrent encoder, with random weights. Rope and silu are stood
/// in for by additions, which cost the same order. Prints wall and processor time; checked kernels must not
/// report anything.
///
///   bench [CORES] [LAYERS]
#include <sys/resource.h>
#include <time.h>

#include <cstdio>
#include <cstdlib>
#include <memory>

#include "tests/kernels/references.h"
#include "tests/support/launch.h"

using namespace metalsim;
using test::Buffer;
using test::Launch;

namespace {

constexpr int width = 576, kv_width = 192, ffn = 1536, vocabulary = 49152, heads = 9, kv_heads = 3, head = 64;
constexpr int prompt = 64, cached = 128;

double seconds(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return double(t.tv_sec) + double(t.tv_nsec) * 1e-9;
}

/// Buffers of one size, small values everywhere.
std::unique_ptr<Buffer> filled(size_t bytes) {
  auto buffer = std::make_unique<Buffer>(bytes);
  uint32_t state = 1;
  for (size_t i = 0; i < bytes / 2; ++i) {
    state = state * 1664525u + 1013904223u;
    buffer->as<uint16_t>()[i] = uint16_t(0x2000 + (state >> 24));
  }
  return buffer;
}

class Model {
 public:
  Model() {
    for (auto& buffer : activation_) buffer = filled(size_t(prompt) * ffn * 4);
  }

  /// Dispatches of one pass over `tokens` positions. Returns their number.
  int run(int tokens, int layers) {
    tokens_ = tokens;
    count_ = 0;
    for (int layer = 0; layer < layers; ++layer) run_layer();
    matrix_vector(*output_, vocabulary, width, *activation_[9], *logits_);
    barrier();
    return count_;
  }

 private:
  Buffer& a(int i) { return *activation_[i]; }
  void barrier() { region_.barrier(); }

  void run_layer() {
    norm(a(0), a(1));
    barrier();
    multiply(width, width, a(1), a(2));
    multiply(kv_width, width, a(1), a(3));
    multiply(kv_width, width, a(1), a(4));
    barrier();
    add(a(2), a(2), a(5), width * tokens_);
    barrier();
    attend(a(5), a(6));
    barrier();
    multiply(width, width, a(6), a(7));
    barrier();
    add(a(7), *norm_weight_, a(8), width);
    barrier();
    norm(a(8), a(1));
    barrier();
    multiply(ffn, width, a(1), a(2));
    multiply(ffn, width, a(1), a(3));
    barrier();
    add(a(2), a(3), a(4), ffn * tokens_);
    barrier();
    multiply(width, ffn, a(4), a(5));
    barrier();
    add(a(5), a(8), a(9), width * tokens_);
    barrier();
  }

  void go(Launch& launch, int x, int y, int threads) {
    launch.run(uint32_t(x), uint32_t(y), 1, uint32_t(threads), &region_);
    ++count_;
  }
  void matrix_vector(Buffer& w, int M, int K, Buffer& x, Buffer& y) {
    Launch launch("mul_mv_q4_0_f32");
    launch.bytes(0, mv_args{K, M}).buffer(1, w).buffer(2, x).buffer(3, y).constant(0, 2);
    go(launch, (M + 7) / 8, 1, 64);
  }
  void multiply(int M, int K, Buffer& x, Buffer& y) {
    if (tokens_ == 1) return matrix_vector(*weights_, M, K, x, y);
    Launch launch("mul_mm_q8_0_f32");
    launch.bytes(0, mm_args{K, M, tokens_})
        .buffer(1, *weights_)
        .buffer(2, x)
        .buffer(3, y)
        .threadgroup(0, 8192);
    go(launch, (tokens_ + 31) / 32, (M + 63) / 64, 128);
  }
  void norm(Buffer& x, Buffer& y) {
    for (int i = 0; i < tokens_; ++i) {
      const size_t row = size_t(i) * width * 4;
      Launch launch("rms_norm_f32");
      launch.buffer(0, x, row).buffer(1, *norm_weight_).buffer(2, y, row).bytes(3, width).threadgroup(0, 128);
      go(launch, 1, 1, 192);
    }
  }
  void add(Buffer& x, Buffer& y, Buffer& z, int n) {
    Launch launch("add_f32");
    launch.buffer(0, x).buffer(1, y).buffer(2, z).bytes(3, uint32_t(n));
    go(launch, (n + 255) / 256, 1, 256);
  }
  void attend(Buffer& q, Buffer& o) {
    const int n_kv = tokens_ == 1 ? cached : tokens_;
    Launch launch("flash_attn_vec_d64");
    launch.bytes(0, fa_args{n_kv, heads, kv_heads, kv_width, 0.125f})
        .buffer(1, q)
        .buffer(2, *keys_)
        .buffer(3, *values_);
    launch.buffer(4, o).constant(0, true).threadgroup(0, 4 * (32 + head + 2) * 4);
    go(launch, tokens_, heads, 128);
  }

  std::unique_ptr<Buffer> weights_ = filled(size_t(ffn) * width / 32 * sizeof(block_q8_0));
  std::unique_ptr<Buffer> output_ = filled(size_t(vocabulary) * width / 32 * sizeof(block_q4_0));
  std::unique_ptr<Buffer> norm_weight_ = filled(width * 4), logits_ = filled(vocabulary * 4);
  std::unique_ptr<Buffer> keys_ = filled(1024 * kv_width * 2), values_ = filled(1024 * kv_width * 2);
  std::unique_ptr<Buffer> activation_[10];
  BarrierRegion region_;
  int tokens_ = 1, count_ = 0;
};

void measure(Model& model, int tokens, int layers) {
  const double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
  const int dispatches = model.run(tokens, layers);
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  std::printf("%2d token(s): %d dispatches, wall %.3f s, cpu %.3f s, max rss %ld MB, %zu reports\n", tokens,
              dispatches, seconds(CLOCK_MONOTONIC) - wall, seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu,
              usage.ru_maxrss / 1024, reports().size());
}

}  // namespace

int main(int argc, char** argv) {
  Options options = metalsim::options();
  if (argc > 1) options.cores = uint32_t(std::atoi(argv[1]));
  set_options(options);
  const int layers = argc > 2 ? std::atoi(argv[2]) : 30;
  Model model;
  measure(model, 1, layers);
  measure(model, 1, layers);
  measure(model, prompt, layers);
  return reports().empty() ? 0 : 1;
}
