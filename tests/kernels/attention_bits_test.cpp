#include "kernels/attention_test.h"

using namespace minfer;
using namespace minfer::cpu;
using namespace minfer::cpu::test;

namespace {

void compare_states(AttendState& got, AttendState& want) {
  REQUIRE(first_difference(got.m, want.m) == -1);
  REQUIRE(first_difference(got.s, want.s) == -1);
  REQUIRE(first_difference(got.o, want.o) == -1);
  REQUIRE(got.o.guards_intact());
  REQUIRE(got.m.guards_intact());
  REQUIRE(got.s.guards_intact());
}

/// Queries that are laid out beside scalar's attend of queries as they are: on every table.
void compare_wide(int64_t head_dim, const std::vector<int32_t>& visible_rows, bool wild = false) {
  const auto n_q = int64_t(visible_rows.size());
  CAPTURE(head_dim);
  CAPTURE(n_q);
  const AttendCase input(head_dim, n_q, 75, wild);
  AttendState want(n_q, head_dim);
  attend_tiles(scalar_table(), input, visible_rows, want);
  for (const KernelTable* table : built_tables()) {
    if (!table->runs_here()) continue;
    CAPTURE(std::string(table->isa));
    AttendState got(n_q, head_dim);
    attend_tiles(*table, input, visible_rows, got, 0, INT64_MAX, true);
    compare_states(got, want);
  }
}

/// attend over all tiles on both tables, then all of the state compared.
void compare_attend(const KernelTable& table, int64_t head_dim, int64_t n_q, int64_t context,
                    const std::vector<int32_t>& visible_rows, bool wild = false, DType type = DType::f32) {
  CAPTURE(std::string(table.isa));
  CAPTURE(head_dim);
  CAPTURE(n_q);
  AttendCase input(head_dim, n_q, context, wild);
  if (type != DType::f32) input.pack(type);
  AttendState want(n_q, head_dim), got(n_q, head_dim);
  attend_tiles(scalar_table(), input, visible_rows, want);
  attend_tiles(table, input, visible_rows, got);
  compare_states(got, want);
}

}  // namespace

TEST_CASE("attention has scalar's bits at every head size and group") {
  for (const KernelTable* table : vector_tables()) {
    for (const int64_t head_dim : {4, 8, 12, 16, 20, 32, 48, 64, 80, 96, 100, 128, 192, 256}) {
      for (const int64_t n_q : {1, 2, 3, 4, 7, 8, 9}) {
        compare_attend(*table, head_dim, n_q, 75, std::vector<int32_t>(size_t(n_q), 75));
      }
    }
  }
}

TEST_CASE("attention has scalar's bits where queries see different numbers of rows, or none") {
  for (const KernelTable* table : vector_tables()) {
    for (int32_t first = 0; first <= 40; ++first) {
      std::vector<int32_t> visible;
      for (int32_t i = 0; i < 11; ++i) visible.push_back(i == 5 ? 0 : first + i);
      compare_attend(*table, 64, 11, 52, visible);
      compare_attend(*table, 20, 11, 52, visible);
    }
  }
}

TEST_CASE("attention reads f16 and packed rows with scalar's bits at every head size and group") {
  for (const KernelTable* table : vector_tables()) {
    for (const DType type : {DType::f16, DType::q8_0}) {
      for (const int64_t head_dim : {4, 8, 16, 20, 32, 48, 64, 80, 96, 128, 160, 192, 256}) {
        for (const int64_t n_q : {1, 2, 3, 4, 7, 9}) {
          compare_attend(*table, head_dim, n_q, 75, std::vector<int32_t>(size_t(n_q), 75), false, type);
        }
        compare_attend(*table, head_dim, 5, 75, {75, 0, 3, 40, 64}, false, type);
      }
    }
  }
}

TEST_CASE("queries laid out together have the bits of queries one by one at every head size and number") {
  for (const int64_t head_dim : {4, 8, 12, 15, 16, 17, 20, 32, 48, 64, 80, 100, 128, 256}) {
    for (const size_t n_q : {1, 3, 15, 16, 17, 33, 48, 64, 83}) compare_wide(head_dim, std::vector(n_q, 75));
  }
}

TEST_CASE("queries laid out together have the bits of queries one by one under a causal mask") {
  for (int32_t first = -30; first <= 40; first += 5) {
    std::vector<int32_t> visible;
    for (int32_t i = 0; i < 70; ++i) visible.push_back(i == 21 ? 0 : std::clamp(first + i / 2, 0, 75));
    compare_wide(64, visible);
    compare_wide(20, visible);
    std::reverse(visible.begin(), visible.end());
    compare_wide(40, visible);
  }
}

TEST_CASE("queries laid out together have the bits of queries one by one over infinities and NaN") {
  std::vector<int32_t> visible;
  for (int32_t i = 0; i < 35; ++i) visible.push_back(i * 37 % 76);
  for (const int64_t head_dim : {12, 32}) compare_wide(head_dim, visible, true);
}

TEST_CASE("attention over infinities and NaN has scalar's bits") {
  for (const KernelTable* table : vector_tables())
    compare_attend(*table, 32, 6, 70, {70, 1, 33, 64, 5, 70}, true);
}

TEST_CASE("attend_merge has scalar's bits") {
  constexpr float inf = std::numeric_limits<float>::infinity();
  const struct {
    float m, m2;
  } cases[] = {{0.5f, 0.25f}, {-3.0f, 90.0f}, {-inf, 1.0f}, {1.0f, -inf},
               {-inf, -inf},  {NAN, 1.0f},    {1.0f, NAN}};
  for (const KernelTable* table : vector_tables()) {
    for (const auto& c : cases) {
      for (const int64_t n : lengths()) {
        Guarded<float> want(normal_values(n, 1), 0), got(normal_values(n, 1), 1),
            second(normal_values(n, 2), 3);
        float m_want = c.m, s_want = 1.75f, m_got = c.m, s_got = 1.75f;
        scalar_table().attend_merge_f32(&m_want, &s_want, want.data(), c.m2, 1.3f, second.data(), n);
        table->attend_merge_f32(&m_got, &s_got, got.data(), c.m2, 1.3f, second.data(), n);
        CAPTURE(c.m);
        CAPTURE(c.m2);
        REQUIRE(same_bits(m_got, m_want));
        REQUIRE(same_bits(s_got, s_want));
        REQUIRE(first_difference(got, want) == -1);
        REQUIRE(got.guards_intact());
      }
    }
  }
}
