#pragma once
#include <functional>
#include <vector>

#include "backends/metal/ops/ops.h"
#include "metal/metal_device.h"

/// Attention alone on the device: queries, keys and values from a formula or at random, no graph around them.
namespace minfer::test {

struct Heads {
  int64_t heads, kv_heads, width;
  int64_t q_dim() const { return heads * width; }
  int64_t kv_dim() const { return kv_heads * width; }
  float scale() const { return float(1.0 / std::sqrt(double(width))); }
};

/// Positions first .. first + tokens - 1.
std::vector<int32_t> positions_from(int64_t first, int64_t tokens);
/// The last `tokens` positions of `rows` rows.
inline std::vector<int32_t> last_positions(int64_t tokens, int64_t rows) {
  return positions_from(rows - tokens, tokens);
}

/// What is attended to: `rows` rows of keys and values, and a query for each position.
struct AttentionInputs {
  Heads heads;
  std::vector<int32_t> positions;
  std::vector<float> q, k, v;
  int64_t tokens() const { return int64_t(positions.size()); }
  int64_t rows() const { return int64_t(k.size()) / heads.kv_dim(); }

  /// q = 3 sin(1.7 i), k = 2 cos(0.9 i), v = 1.5 sin(0.4 i).
  static AttentionInputs waves(const Heads& heads, std::vector<int32_t> positions, int64_t rows);
  static AttentionInputs random(const Heads& heads, std::vector<int32_t> positions, int64_t rows);
  /// The queries first .. first + count - 1 over the same rows.
  AttentionInputs part(int64_t first, int64_t count) const;
};

/// A row as a region of the format gives it back.
std::vector<float> as_stored(KvFormat format, std::vector<float> rows);

/// The same in double, over rows as the format stores them.
std::vector<double> attention_in_double(const AttentionInputs& inputs, KvFormat format);
/// Infinity if any value is no number.
double worst_difference(const std::vector<float>& found, const std::vector<double>& right);
/// Of the angle between them: 1 for the same direction. Blind to a row that counts twice, so never the only
/// bar.
double cosine(const std::vector<float>& found, const std::vector<double>& right);

/// Puts the inputs on the device and runs what `emit` encodes.
///
/// The region has cells beyond the rows, full of NaN, and under the checker unwritten: whoever reads them is
/// found out.
class AttentionRun {
 public:
  using Emit = std::function<void(metal::Encoder&, const metal::AttentionCall&)>;
  /// `chunks` as MINFER_ATTN_CHUNKS; 0: the device's own choice.
  AttentionRun(const AttentionInputs& inputs, KvFormat format, const Emit& emit, int64_t n_ctx = 0,
               int chunks = 0);
  std::vector<float> outputs();
  /// Runs it again with other positions of the same number.
  std::vector<float> outputs_at(const std::vector<int32_t>& positions);
  const metal::MetalProgram& program() const { return program_; }

 private:
  metal::Span upload(const void* data, size_t bytes);
  metal::Span region(KvFormat format, const std::vector<float>& rows, int64_t n_ctx);

  std::shared_ptr<metal::Device> device_;
  metal::Settings settings_;
  metal::WeightRegistry weights_;
  metal::ScratchPool scratch_;
  metal::MetalProgram program_;
  std::vector<metal::Ref<MTL::Buffer>> buffers_;
  Heads heads_;
  Node node_;
  metal::Span positions_, y_;
};

inline std::vector<float> run_attention(const AttentionInputs& inputs, KvFormat format,
                                        const AttentionRun::Emit& emit) {
  return AttentionRun(inputs, format, emit).outputs();
}

}  // namespace minfer::test
