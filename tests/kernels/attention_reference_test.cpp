#include "base/fp16.h"
#include "kernels/attention_test.h"
#include "tolerance.h"

using namespace minfer;
using namespace minfer::cpu;
using namespace minfer::cpu::test;

namespace {

/// One softmax over all rows in f64: query `i`'s output, and the bound for ours.
struct Reference {
  std::vector<double> o;
  double bound;
};

Reference attention_f64(const AttendCase& c, int64_t i, int64_t visible, int64_t merges) {
  std::vector<double> scores;
  double highest = -1e300, lowest = 1e300, score_error = 0, largest_v = 0;
  for (int64_t j = 0; j < visible; ++j) {
    double score = 0, magnitude = 0;
    for (int64_t d = 0; d < c.head_dim; ++d) {
      const double product = double(c.q[i * c.head_dim + d]) * c.k[j * c.stride + d];
      score += product;
      magnitude += std::abs(product);
      largest_v = std::max(largest_v, std::abs(double(c.v[j * c.stride + d])));
    }
    scores.push_back(score * c.scale);
    highest = std::max(highest, scores.back());
    lowest = std::min(lowest, scores.back());
    score_error = std::max(
        score_error, tol::dot(double(c.head_dim), magnitude) * c.scale + tol::u * std::abs(scores.back()));
  }
  std::vector<double> o(size_t(c.head_dim), 0.0);
  double sum = 0;
  for (int64_t j = 0; j < visible; ++j) {
    const double p = std::exp(scores[size_t(j)] - highest);
    sum += p;
    for (int64_t d = 0; d < c.head_dim; ++d) o[size_t(d)] += p * c.v[j * c.stride + d];
  }
  for (double& v : o) v /= sum;
  const double states = double(visible / attn_tile_rows + 1 + merges);
  return {o, largest_v * tol::attention(double(visible), states, score_error, highest - lowest)};
}

void check_attention(const AttendCase& c, const std::vector<int32_t>& visible, AttendState& state,
                     int64_t merges = 0) {
  for (int64_t i = 0; i < c.n_q; ++i) {
    const Reference want = attention_f64(c, i, visible[size_t(i)], merges);
    for (int64_t d = 0; d < c.head_dim; ++d) {
      REQUIRE(std::abs(state.o[i * c.head_dim + d] / state.s[i] - want.o[size_t(d)]) <= want.bound);
    }
  }
}

}  // namespace

TEST_CASE("attention tile by tile is one softmax over all rows") {
  for (const int64_t head_dim : {4, 64, 80, 128}) {
    const AttendCase c(head_dim, 5, 200);
    const std::vector<int32_t> visible{200, 1, 32, 33, 117};
    AttendState state(c.n_q, head_dim);
    attend_tiles(scalar_table(), c, visible, state);
    check_attention(c, visible, state);
  }
}

TEST_CASE("chunks attended apart and merged are one softmax over all rows") {
  const AttendCase c(64, 2, 1300);
  const std::vector<int32_t> visible{1300, 700};
  AttendState state(c.n_q, c.head_dim);
  for (int64_t row = 0; row < c.context; row += attn_chunk_rows) {
    AttendState chunk(c.n_q, c.head_dim);
    attend_tiles(scalar_table(), c, visible, chunk, row, row + attn_chunk_rows);
    for (int64_t i = 0; i < c.n_q; ++i) {
      scalar_table().attend_merge_f32(&state.m[i], &state.s[i], state.o.data() + i * c.head_dim, chunk.m[i],
                                      chunk.s[i], chunk.o.data() + i * c.head_dim, c.head_dim);
    }
  }
  check_attention(c, visible, state, c.context / attn_chunk_rows + 1);
}

TEST_CASE("scores beyond the range of half floats keep their difference") {
  // q.k1 = 204800 and q.k2 = 204760 exceed 65504; scaled by 1/sqrt(128) they differ by 3.535534, which gives
  // the weights 0.971682 and 0.028318. The keys come from half floats, as a cache holds them.
  constexpr int64_t head_dim = 128;
  for (const KernelTable* table : built_tables()) {
    if (!table->runs_here()) continue;
    std::vector<uint16_t> k16(2 * head_dim, f32_to_f16(40.0f)), v16(2 * head_dim, 0);
    k16.back() = f32_to_f16(39.0f);
    v16[0] = v16[head_dim + 1] = f32_to_f16(1.0f);
    // Decode is one query; a prefill's second query sees both rows, its first only one.
    for (const std::vector<int32_t>& visible : {std::vector<int32_t>{2}, std::vector<int32_t>{1, 2}}) {
      const auto n_q = int64_t(visible.size());
      const std::vector<float> q(size_t(n_q * head_dim), 40.0f);
      AttendState state(n_q, head_dim);
      const auto bytes = [](const std::vector<uint16_t>& rows) {
        return reinterpret_cast<const std::byte*>(rows.data());
      };
      const KvTile tile{DType::f16, bytes(k16), bytes(v16), size_t(head_dim) * sizeof(uint16_t), 2};
      table->attend(q.data(), head_dim, n_q, tile, head_dim, 1.0f / std::sqrt(128.0f), visible.data(),
                    state.m.data(), state.s.data(), state.o.data(), head_dim);
      const int64_t last = n_q - 1;
      CHECK(std::abs(state.o[last * head_dim] / state.s[last] - 0.971682) <= tol::half_range_case);
      CHECK(std::abs(state.o[last * head_dim + 1] / state.s[last] - 0.028318) <= tol::half_range_case);
    }
  }
}

TEST_CASE("a query that sees no row keeps its state") {
  for (const KernelTable* table : built_tables()) {
    if (!table->runs_here()) continue;
    const AttendCase c(32, 3, 32);
    AttendState state(3, 32);
    state.m[1] = 0.25f, state.s[1] = 3.5f, state.o[32 + 7] = -1.5f;
    attend_tiles(*table, c, {32, 0, 8}, state);
    CHECK(state.m[1] == 0.25f);
    CHECK(state.s[1] == 3.5f);
    for (int64_t d = 0; d < 32; ++d) CHECK(state.o[32 + d] == (d == 7 ? -1.5f : 0.0f));
  }
}

TEST_CASE("a NaN in a key reaches the output through later tiles and merges") {
  for (const KernelTable* table : built_tables()) {
    if (!table->runs_here()) continue;
    for (const int64_t bad_row : {0, 17, 31, 40, 69}) {
      const AttendCase c(32, 1, 70);
      c.k[bad_row * c.stride + 5] = NAN;
      AttendState state(1, 32), merged(1, 32);
      attend_tiles(*table, c, {70}, state);
      table->attend_merge_f32(&merged.m[0], &merged.s[0], merged.o.data(), state.m[0], state.s[0],
                              state.o.data(), 32);
      CHECK(std::isnan(state.s[0]));
      for (int64_t d = 0; d < 32; ++d) CHECK(std::isnan(state.o[d]));
      for (int64_t d = 0; d < 32; ++d) CHECK(std::isnan(merged.o[d]));
    }
  }
}
