#include "metal/decode_scene.h"

#include <algorithm>
#include <limits>

#include "base/fp16.h"
#include "metal/emit_bench.h"
#include "ops/reference.h"
#include "quant/quant.h"

namespace minfer::test {
namespace {

std::vector<float> wave(int64_t count, double height, double step, bool cosine) {
  std::vector<float> x(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    const double angle = step * double(i);
    x[size_t(i)] = float(height * (cosine ? std::cos(angle) : std::sin(angle)));
  }
  return x;
}

/// The largest finite value of the format, with its sign alternating: finite in every format, and felt by a
/// sum.
std::vector<float> junk(KvFormat format, int64_t count) {
  const float large = format == KvFormat::f32 ? 1e30f : 60000.0f;
  std::vector<float> x(static_cast<size_t>(count), large);
  for (size_t i = 1; i < x.size(); i += 2) x[i] = -large;
  return x;
}

void encode_row(KvFormat format, const float* x, std::byte* row, int64_t width) {
  if (format == KvFormat::f32) std::memcpy(row, x, size_t(width) * sizeof(float));
  if (format == KvFormat::q8_0) quantise_row_q8_0(x, row, width);
  if (format != KvFormat::f16) return;
  for (int64_t i = 0; i < width; ++i) {
    const uint16_t half = f32_to_f16(x[i]);
    std::memcpy(row + 2 * i, &half, sizeof half);
  }
}

/// What a reader of the region gets back.
std::vector<float> as_stored(KvFormat format, std::vector<float> x) {
  if (format == KvFormat::f16) {
    for (float& value : x) value = f16_to_f32(f32_to_f16(value));
  } else if (format == KvFormat::q8_0) {
    std::vector<std::byte> blocks(x.size() / 32 * 34);
    quantise_row_q8_0(x.data(), blocks.data(), int64_t(x.size()));
    decode_row(DType::q8_0, blocks.data(), x.data(), int64_t(x.size()));
  }
  return x;
}

}  // namespace

AttentionScene::AttentionScene(AttentionShape s, KvFormat f, int64_t n_tokens, int64_t n_rows, int64_t spare)
    : shape(s),
      tokens(n_tokens),
      rows(n_rows),
      n_ctx(n_rows + spare),
      format(f),
      q(wave(n_tokens * s.width(), 3.0, 1.7, false)),
      k(wave(n_rows * s.kv_dim(), 2.0, 0.9, true)),
      v(wave(n_rows * s.kv_dim(), 1.5, 0.4, false)) {
  for (int64_t t = 0; t < tokens; ++t) positions.push_back(int32_t(rows - tokens + t));
}

std::vector<std::byte> AttentionScene::region(const std::vector<float>& rows_of) const {
  const size_t bytes = kv_row_bytes(format, shape.kv_dim());
  std::vector<std::byte> region(bytes * size_t(n_ctx));
  const std::vector<float> unseen = junk(format, shape.kv_dim());
  for (int64_t row = 0; row < n_ctx; ++row) {
    const float* from = row < rows ? rows_of.data() + row * shape.kv_dim() : unseen.data();
    encode_row(format, from, region.data() + size_t(row) * bytes, shape.kv_dim());
  }
  return region;
}

std::vector<float> AttentionScene::run(const Emit& emit, int chunks) const {
  EmitBench bench(chunks);
  Node node;
  node.name = "attention";
  const Attention op{0, shape.n_heads, shape.n_kv_heads, shape.head_dim, scale(), WindowKind::causal, format};
  node.op = op;
  const metal::Span at = bench.upload(positions);
  const metal::Span y = bench.room(size_t(tokens * shape.width()) * sizeof(float));
  const metal::KvPlace kv{bench.upload(region(k)),
                          bench.upload(region(v)),
                          shape.kv_dim(),
                          format,
                          kv_row_bytes(format, shape.kv_dim()),
                          n_ctx};
  emit(bench.encoder(), {.node = &node,
                         .op = op,
                         .q = {bench.upload(q), shape.width(), tokens},
                         .y = {y, shape.width(), tokens},
                         .kv = kv,
                         .positions = reinterpret_cast<const int32_t*>(at.host()),
                         .positions_span = at});
  bench.run();
  return bench.read(y);
}

double AttentionScene::worst(const std::vector<float>& y) const {
  const std::vector<float> keys = as_stored(format, k), values = as_stored(format, v);
  double worst = 0;
  for (int64_t t = 0; t < tokens; ++t) {
    std::vector<int64_t> cells;
    for (int64_t cell = 0; cell <= positions[size_t(t)]; ++cell) cells.push_back(cell);
    for (int64_t h = 0; h < shape.n_heads; ++h) {
      const size_t at = size_t(t * shape.width() + h * shape.head_dim);
      const int64_t column = h / (shape.n_heads / shape.n_kv_heads) * shape.head_dim;
      const reference::Attended right = reference::attention(q.data() + at, keys, values, cells, column,
                                                             shape.kv_dim(), shape.head_dim, double(scale()));
      for (size_t i = 0; i < right.value.size(); ++i) {
        const double off = std::abs(double(y[at + i]) - right.value[i]);
        worst = std::isnan(off) ? std::numeric_limits<double>::infinity() : std::max(worst, off);
      }
    }
  }
  return worst;
}

}  // namespace minfer::test
