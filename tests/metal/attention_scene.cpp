#include "metal/attention_scene.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "backends/metal/replay.h"
#include "base/fp16.h"
#include "ops/reference.h"
#include "quant/quant.h"
#include "worse.h"
#ifdef MINFER_METAL_SIM
#include <metalsim/metalsim.h>
#endif

namespace minfer::test {
namespace {

constexpr int64_t cells_beyond = 70;  // more than a tile of rows

std::vector<float> wave(int64_t count, double amplitude, double step, double (*shape)(double)) {
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(float(amplitude * shape(step * double(i))));
  return values;
}

/// Rows as the bytes of a region.
std::vector<std::byte> packed(KvFormat format, const std::vector<float>& rows, int64_t kv_dim) {
  const size_t row_bytes = kv_row_bytes(format, kv_dim), count = rows.size() / size_t(kv_dim);
  std::vector<std::byte> bytes(row_bytes * count);
  for (size_t row = 0; row < count; ++row) {
    const float* from = rows.data() + row * size_t(kv_dim);
    std::byte* to = bytes.data() + row * row_bytes;
    if (format == KvFormat::f32) std::memcpy(to, from, row_bytes);
    if (format == KvFormat::q8_0) quantise_row_q8_0(from, to, kv_dim);
    for (int64_t i = 0; format == KvFormat::f16 && i < kv_dim; ++i) {
      const uint16_t half = f32_to_f16(from[i]);
      std::memcpy(to + i * 2, &half, 2);
    }
  }
  return bytes;
}

}  // namespace

std::vector<int32_t> positions_from(int64_t first, int64_t tokens) {
  std::vector<int32_t> positions(static_cast<size_t>(tokens));
  std::iota(positions.begin(), positions.end(), int32_t(first));
  return positions;
}

AttentionInputs AttentionInputs::waves(const Heads& heads, std::vector<int32_t> positions, int64_t rows) {
  const auto sine = [](double x) { return std::sin(x); };
  const auto cosine = [](double x) { return std::cos(x); };
  const int64_t tokens = int64_t(positions.size());
  return {heads, std::move(positions), wave(tokens * heads.q_dim(), 3, 1.7, sine),
          wave(rows * heads.kv_dim(), 2, 0.9, cosine), wave(rows * heads.kv_dim(), 1.5, 0.4, sine)};
}

AttentionInputs AttentionInputs::random(const Heads& heads, std::vector<int32_t> positions, int64_t rows) {
  Source source(17);
  const int64_t tokens = int64_t(positions.size());
  return {heads, std::move(positions), source.normals(tokens * heads.q_dim()),
          source.normals(rows * heads.kv_dim()), source.normals(rows * heads.kv_dim())};
}

AttentionInputs AttentionInputs::part(int64_t first, int64_t count) const {
  AttentionInputs some = *this;
  some.positions = {positions.begin() + first, positions.begin() + first + count};
  const auto begin = q.begin() + first * heads.q_dim();
  some.q = {begin, begin + count * heads.q_dim()};
  return some;
}

std::vector<float> as_stored(KvFormat format, std::vector<float> rows) {
  if (format == KvFormat::f16) {
    for (float& value : rows) value = f16_to_f32(f32_to_f16(value));
  } else if (format == KvFormat::q8_0) {
    const auto blocks = packed(format, rows, int64_t(rows.size()));
    decode_row(DType::q8_0, blocks.data(), rows.data(), int64_t(rows.size()));
  }
  return rows;
}

std::vector<double> attention_in_double(const AttentionInputs& inputs, KvFormat format) {
  const Heads& heads = inputs.heads;
  const std::vector<float> k = as_stored(format, inputs.k), v = as_stored(format, inputs.v);
  std::vector<double> right;
  for (int64_t t = 0; t < inputs.tokens(); ++t) {
    std::vector<int64_t> cells(size_t(inputs.positions[size_t(t)] + 1));
    std::iota(cells.begin(), cells.end(), 0);
    for (int64_t h = 0; h < heads.heads; ++h) {
      const float* q = inputs.q.data() + t * heads.q_dim() + h * heads.width;
      const int64_t column = h / (heads.heads / heads.kv_heads) * heads.width;
      const auto one =
          reference::attention(q, k, v, cells, column, heads.kv_dim(), heads.width, double(heads.scale()));
      right.insert(right.end(), one.value.begin(), one.value.end());
    }
  }
  return right;
}

double worst_difference(const std::vector<float>& found, const std::vector<double>& right) {
  if (found.size() != right.size()) return std::numeric_limits<double>::infinity();
  double worst = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    worst = worse(worst, std::abs(double(found[i]) - right[i]));
  }
  return worst;
}

double cosine(const std::vector<float>& found, const std::vector<double>& right) {
  if (found.size() != right.size()) return 0;
  double product = 0, ours = 0, theirs = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    product += double(found[i]) * right[i];
    ours += double(found[i]) * double(found[i]);
    theirs += right[i] * right[i];
  }
  return product / std::sqrt(ours * theirs);
}

AttentionRun::AttentionRun(const AttentionInputs& inputs, KvFormat format, const Emit& emit, int64_t n_ctx,
                           int chunks)
    : device_(metal::Device::open()),
      settings_(metal::Settings::from_environment()),
      weights_(*device_, false),
      heads_(inputs.heads) {
  const metal::AutoreleasePool pool;
  settings_.attention_chunks = chunks;
  if (n_ctx == 0) n_ctx = inputs.rows() + cells_beyond;
  const Attention op{0,     heads_.heads, heads_.kv_heads, heads_.width, heads_.scale(), WindowKind::causal,
                     format};
  node_.name = "attention";
  node_.op = op;
  const int64_t tokens = inputs.tokens();
  const metal::Span q = upload(inputs.q.data(), inputs.q.size() * sizeof(float));
  positions_ = upload(inputs.positions.data(), inputs.positions.size() * sizeof(int32_t));
  const std::vector<float> nothing(inputs.q.size(), std::numeric_limits<float>::quiet_NaN());
  y_ = upload(nothing.data(), nothing.size() * sizeof(float));
  const metal::KvPlace kv = {region(format, inputs.k, n_ctx),
                             region(format, inputs.v, n_ctx),
                             heads_.kv_dim(),
                             format,
                             kv_row_bytes(format, heads_.kv_dim()),
                             n_ctx};
  metal::Encoder encoder(*device_, settings_, weights_, scratch_, program_);
  emit(encoder, {&node_,
                 op,
                 {q, heads_.q_dim(), tokens},
                 {y_, heads_.q_dim(), tokens},
                 kv,
                 reinterpret_cast<const int32_t*>(positions_.host()),
                 positions_});
  encoder.finish();
}

metal::Span AttentionRun::upload(const void* data, size_t bytes) {
  const metal::Span span{buffers_.emplace_back(device_->new_buffer(bytes, "test")).get(), 0, bytes};
  std::memcpy(span.host(), data, bytes);
  return span;
}

metal::Span AttentionRun::region(KvFormat format, const std::vector<float>& rows, int64_t n_ctx) {
  const std::vector<std::byte> bytes = packed(format, rows, heads_.kv_dim());
  std::vector<std::byte> cells(kv_row_bytes(format, heads_.kv_dim()) * size_t(n_ctx), std::byte(0xff));
  std::copy(bytes.begin(), bytes.end(), cells.begin());
  const metal::Span span = upload(cells.data(), cells.size());
#ifdef MINFER_METAL_SIM
  metalsim::mark_unwritten(span.buffer, bytes.size(), cells.size() - bytes.size());
#endif
  return span;
}

std::vector<float> AttentionRun::outputs() {
  const metal::AutoreleasePool pool;
  for (const auto& prepare : program_.prepares) prepare();
  metal::replay(*device_, program_, settings_, nullptr).wait(std::chrono::milliseconds(settings_.timeout_ms));
  std::vector<float> values(y_.bytes / sizeof(float));
  std::memcpy(values.data(), y_.host(), y_.bytes);
  return values;
}

std::vector<float> AttentionRun::outputs_at(const std::vector<int32_t>& positions) {
  MINFER_CHECK(positions.size() * sizeof(int32_t) == positions_.bytes, "the number of queries stays");
  std::memcpy(positions_.host(), positions.data(), positions_.bytes);
  return outputs();
}

}  // namespace minfer::test
