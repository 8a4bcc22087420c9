#include <doctest/doctest.h>

#include <algorithm>

#include "metal/attention_scene.h"
#include "tolerance.h"

using namespace minfer;
using namespace minfer::test;

namespace {

constexpr Heads narrow_heads = {14, 2, 64}, wide_heads = {28, 4, 128};

double tolerance_of(KvFormat format) {
  return format == KvFormat::f16 ? tol::metal_attention_f16 : tol::metal_attention_f32;
}

void flash_of_unpacked(metal::Encoder& encoder, const metal::AttentionCall& call) {
  metal::AttentionCall plain = call;
  plain.kv = emit_kv_unpack(encoder, call);
  emit_prefill_flash(encoder, plain);
}

/// Against double, twice; returns the result.
std::vector<float> check(const AttentionInputs& inputs, KvFormat format, const AttentionRun::Emit& emit) {
  CAPTURE(name(format));
  CAPTURE(inputs.heads.width);
  CAPTURE(inputs.tokens());
  CAPTURE(inputs.rows());
  AttentionRun run(inputs, format, emit);
  const std::vector<float> found = run.outputs();
  const std::vector<double> right = attention_in_double(inputs, format);
  CHECK(worst_difference(found, right) <= tolerance_of(format));
  CHECK(cosine(found, right) > tol::metal_attention_cosine);
  CHECK(same_bits(run.outputs(), found));
  return found;
}

struct Case {
  int64_t tokens, rows;
};

/// Both sides of every edge of a tile of 64 rows and of a tile of eight queries. All but the first start
/// above position 0.
std::vector<Case> isolation_cases() {
  return {{1, 1},   {1, 5},  {1, 63}, {1, 64},  {1, 65},  {1, 100},  {1, 127},  {1, 128},
          {1, 129}, {8, 63}, {8, 64}, {8, 100}, {9, 100}, {16, 140}, {32, 251}, {200, 300}};
}

/// On the checked device fewer heads say the same; one of the longest cases.
std::vector<Heads> isolation_heads(const Case& c) {
  if (!checked) return {narrow_heads, wide_heads};
  if (c.tokens > 9) return {{1, 1, 64}, {1, 1, 128}};
  return {{2, 1, 64}, {2, 2, 128}};
}

constexpr KvFormat plain_formats[] = {KvFormat::f32, KvFormat::f16};

}  // namespace

TEST_CASE("isolation: prefill flash in every shape, against double") {
  for (const Case& c : isolation_cases()) {
    for (const Heads& heads : isolation_heads(c)) {
      const auto inputs = AttentionInputs::waves(heads, last_positions(c.tokens, c.rows), c.rows);
      for (const KvFormat format : plain_formats) check(inputs, format, metal::emit_prefill_flash);
    }
  }
}

TEST_CASE("three passes match the double calculation, also beyond 256 rows") {
  std::vector<Case> cases = {{1, 1}, {3, 255}, {2, 256}, {2, 257}, {2, 300}, {9, 100}};
  if (!checked) cases.insert(cases.end(), {{5, 600}, {33, 40}});
  for (const Case& c : cases) {
    for (const Heads& heads : isolation_heads(c)) {
      const auto inputs = AttentionInputs::waves(heads, last_positions(c.tokens, c.rows), c.rows);
      for (const KvFormat format : plain_formats) check(inputs, format, metal::emit_prefill_three_pass);
    }
  }
}

TEST_CASE("every fast head width") {
  for (const int64_t width : {64, 80, 96, 128, 256}) {
    const Heads heads = checked ? Heads{2, 1, width} : Heads{3, 1, width};
    std::vector<Case> cases = {{9, 75}};
    if (!checked) cases.insert(cases.end(), {{8, 64}, {3, 130}, {70, 70}});
    for (const Case& c : cases) {
      const auto inputs = AttentionInputs::random(heads, last_positions(c.tokens, c.rows), c.rows);
      for (const KvFormat format : plain_formats) {
        check(inputs, format, metal::emit_prefill_flash);
        check(inputs, format, metal::emit_prefill_three_pass);
      }
    }
  }
}

TEST_CASE("flash_prefill_matches_the_cpu_reference_at_every_kv_tail") {
  const Heads heads = checked ? Heads{1, 1, 64} : Heads{2, 1, 64};
  std::vector<int64_t> tails = {72, 96, 98};
  for (int64_t rows = 65; !checked && rows <= 128; ++rows) tails.push_back(rows);
  for (const int64_t rows : tails) {
    for (const int64_t tokens : {int64_t(5), rows}) {
      if (checked && tokens == rows && rows != 72) continue;
      const auto inputs = AttentionInputs::waves(heads, last_positions(tokens, rows), rows);
      check(inputs, KvFormat::f32, metal::emit_prefill_flash);
    }
  }
}

TEST_CASE("a query's result does not depend on the others of its launch, to the bit") {
  const int64_t rows = checked ? 76 : 203;
  const Heads heads = checked ? Heads{1, 1, 64} : Heads{2, 1, 64};
  const auto inputs = AttentionInputs::random(heads, positions_from(0, rows), rows);
  for (const KvFormat format : plain_formats) {
    const std::vector<float> whole = run_attention(inputs, format, metal::emit_prefill_flash);
    std::vector<int64_t> chunks = {32};
    if (!checked) chunks = {1, 7, 32, 64};
    for (const int64_t chunk : chunks) {
      CAPTURE(chunk);
      std::vector<float> parts;
      for (int64_t first = 0; first < rows; first += chunk) {
        const auto part = inputs.part(first, std::min(chunk, rows - first));
        const std::vector<float> some = run_attention(part, format, metal::emit_prefill_flash);
        parts.insert(parts.end(), some.begin(), some.end());
      }
      CHECK(same_bits(parts, whole));
    }
  }
}

TEST_CASE("queries in any order, and several at one position") {
  const Heads heads = {2, 1, 64};
  const std::vector<int32_t> positions = {70, 3, 69, 0, 3, 64, 63, 12, 5, 70};
  const auto inputs = AttentionInputs::random(heads, positions, 71);
  for (const KvFormat format : plain_formats) {
    const std::vector<float> found = check(inputs, format, metal::emit_prefill_flash);
    check(inputs, format, metal::emit_prefill_three_pass);
    const std::vector<float> alone = run_attention(inputs.part(6, 1), format, metal::emit_prefill_flash);
    CHECK(same_bits(alone, {found.begin() + 6 * heads.q_dim(), found.begin() + 7 * heads.q_dim()}));
  }
}

TEST_CASE("a program runs at positions that it was not made with") {
  const Heads heads = {2, 1, 96};
  const auto inputs = AttentionInputs::random(heads, last_positions(3, 20), 150);
  struct Way {
    KvFormat format;
    AttentionRun::Emit emit;
  };
  const Way ways[] = {{KvFormat::f32, metal::emit_prefill_flash},
                      {KvFormat::f16, metal::emit_prefill_three_pass},
                      {KvFormat::q8_0, flash_of_unpacked}};
  for (const Way& way : ways) {
    CAPTURE(name(way.format));
    AttentionRun run(inputs, way.format, way.emit);
    for (const int64_t rows : {20, 150, 3, 65}) {
      AttentionInputs moved = inputs;
      moved.positions = last_positions(3, rows);
      CHECK(worst_difference(run.outputs_at(moved.positions), attention_in_double(moved, way.format)) <=
            tolerance_of(way.format));
    }
  }
}

TEST_CASE("packed rows: unpacked on the device or decoded by the quantiser, the same bits") {
  // Rows of 96 values are three blocks of 34 bytes and two of padding.
  std::vector<Heads> shapes = {{2, 1, 96}};
  if (!checked) shapes.insert(shapes.end(), {{6, 2, 64}, {4, 2, 80}, {4, 4, 128}});
  for (const Heads& heads : shapes) {
    CAPTURE(heads.width);
    auto inputs = AttentionInputs::random(heads, last_positions(9, 77), 77);
    const std::vector<float> found = check(inputs, KvFormat::q8_0, flash_of_unpacked);
    inputs.k = as_stored(KvFormat::q8_0, inputs.k);
    inputs.v = as_stored(KvFormat::q8_0, inputs.v);
    CHECK(same_bits(found, run_attention(inputs, KvFormat::f32, metal::emit_prefill_flash)));
  }
}

TEST_CASE("three passes take a few queries at a time where their scores are many") {
  // 64 heads over 16384 cells: 4 MiB of scores a query.
  const Heads heads = {64, 1, 64};
  const auto inputs = AttentionInputs::random(heads, last_positions(9, 12), 12);
  AttentionRun run(inputs, KvFormat::f16, metal::emit_prefill_three_pass, 16384);
  CHECK(run.program().dispatches.size() == 9);  // three launches of four, four and one query
  if (!checked) {
    CHECK(worst_difference(run.outputs(), attention_in_double(inputs, KvFormat::f16)) <=
          tolerance_of(KvFormat::f16));
  }
}

TEST_CASE("scores beyond the range of half keep their difference") {
  // Dots of 204800 and 204760, and a scale that makes them 40 apart: only the first row counts.
  const Heads heads = {1, 1, 64};
  AttentionInputs inputs = AttentionInputs::random(heads, {1, 1}, 2);
  std::fill(inputs.q.begin(), inputs.q.end(), 80.0f);
  std::fill(inputs.k.begin(), inputs.k.begin() + 64, 40.0f);
  std::fill(inputs.k.begin() + 64, inputs.k.end(), 40.0f);
  inputs.k[64] = 39.5f;
  const std::vector<double> right = attention_in_double(inputs, KvFormat::f32);
  for (const AttentionRun::Emit& emit :
       {AttentionRun::Emit(metal::emit_prefill_flash), AttentionRun::Emit(metal::emit_prefill_three_pass)}) {
    CHECK(worst_difference(run_attention(inputs, KvFormat::f32, emit), right) <= tol::half_range_case);
  }
}
