#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "backends/cpu/isa/kernels.h"
#include "ceilings.h"

/// Rate at which attention of one token goes through a long cache, beside the rate at which memory can be
/// read: units of one KV head and one chunk of rows, dealt to the team as decoding deals them.
using namespace minfer;
using namespace minfer::bench;
using namespace minfer::cpu;

namespace {

constexpr int64_t context = 2048;

struct Shape {
  const char* model;
  int64_t kv_heads, group, head_dim;
};

size_t bytes_of(DType type, int64_t elements) { return row_bytes(type, elements); }

/// One (layer, chunk, KV head): all queries of the group over the chunk's rows.
void attend_unit(const Shape& shape, DType type, const std::byte* k, const std::byte* v, int64_t head,
                 const float* q, float* o) {
  const size_t stride = bytes_of(type, shape.kv_heads * shape.head_dim);
  const size_t at = bytes_of(type, head * shape.head_dim);
  std::vector<float> m(size_t(shape.group), -INFINITY), s(size_t(shape.group), 0.0f);
  const std::vector<int32_t> visible(size_t(shape.group), int32_t(attn_tile_rows));
  for (int64_t row = 0; row < attn_chunk_rows; row += attn_tile_rows) {
    const size_t first = size_t(row) * stride + at;
    const KvTile tile{type, k + first, v + first, stride, attn_tile_rows, 16 * stride};
    kernels().attend(q, shape.head_dim, shape.group, tile, shape.head_dim, 0.1f, visible.data(), m.data(),
                     s.data(), o, shape.head_dim);
  }
}

void bench_shape(ThreadPool& pool, const Shape& shape, DType type, const Memory& memory, double limit) {
  const size_t region = bytes_of(type, shape.kv_heads * shape.head_dim) * size_t(context);
  const auto layers = int64_t(memory.size / (2 * region));
  const int64_t chunks = context / attn_chunk_rows, units = layers * chunks * shape.kv_heads;
  const double s = seconds([&] {
    pool.run([&](const Worker& worker) {
      const std::vector<float> q(size_t(shape.group * shape.head_dim), 0.01f);
      std::vector<float> o(q.size(), 0.0f);
      for (int64_t unit = worker.index; unit < units; unit += worker.count) {
        const int64_t head = unit % shape.kv_heads, chunk = unit / shape.kv_heads % chunks;
        const std::byte* k = memory.bytes() + size_t(unit / shape.kv_heads / chunks) * 2 * region +
                             size_t(chunk) * (region / size_t(chunks));
        attend_unit(shape, type, k, k + region, head, q.data(), o.data());
      }
    });
  });
  const double gb = 2e-9 * double(region) * double(layers) / s;
  std::printf("%d threads  %-12s %-5s  %6.1f GB/s (%3.0f %%)  %6.1f us a layer at %lld rows\n",
              pool.threads(), shape.model, std::string(info(type).name).c_str(), gb, 100 * gb / limit,
              1e6 * s / double(layers), (long long)context);
  std::fflush(stdout);
}

}  // namespace

int main() {
  const Memory memory(size_t(256) << 20);
  std::printf("table %s, a cache of 256 MiB\n", std::string(kernels().isa).c_str());
  for (const int threads : {1, 2}) {
    ThreadPool pool(threads);
    const double limit = read_gb_per_second(pool, memory);
    std::printf("%d threads  memory read %.1f GB/s\n", threads, limit);
    for (const Shape& shape :
         {Shape{"Qwen3-0.6B", 8, 2, 128}, Shape{"Qwen2.5-0.5B", 2, 7, 64}, Shape{"SmolLM2-135M", 3, 3, 64}}) {
      for (const DType type : {DType::f32, DType::f16, DType::q8_0}) {
        bench_shape(pool, shape, type, memory, limit);
      }
    }
  }
}
