#include <doctest/doctest.h>

#include "backends/metal/ops/attention_route.h"
#include "metal/attention_scene.h"
#include "tolerance.h"

/// Decode attention, each family by itself: flash, split and classic.
namespace minfer::test {
namespace {

using Emit = AttentionRun::Emit;

constexpr KvFormat formats[] = {KvFormat::f32, KvFormat::f16, KvFormat::q8_0};
constexpr KvFormat plain_formats[] = {KvFormat::f32, KvFormat::f16};

/// Against double, twice; returns the result. All formats have the bar of f32: rows are read exactly.
std::vector<float> check(const AttentionInputs& inputs, KvFormat format, const Emit& emit, int chunks = 0) {
  CAPTURE(name(format));
  CAPTURE(inputs.heads.width);
  CAPTURE(inputs.heads.heads);
  CAPTURE(inputs.tokens());
  CAPTURE(inputs.rows());
  CAPTURE(chunks);
  AttentionRun run(inputs, format, emit, 0, chunks);
  const std::vector<float> found = run.outputs();
  const std::vector<double> right = attention_in_double(inputs, format);
  CHECK(worst_difference(found, right) <= tol::metal_attention_f32);
  CHECK(cosine(found, right) > tol::metal_attention_cosine);
  CHECK(same_bits(run.outputs(), found));
  return found;
}

struct Case {
  int64_t tokens, rows;
  std::vector<int> chunks;
};

/// Both sides of a step of 32 rows, chunks without rows, and steps that do not fill their chunks.
std::vector<Case> isolation_cases() {
  return {{1, 1, {4}},
          {1, 5, {4}},
          {1, 30, {4}},
          {1, 33, {4}},
          {1, 64, {4}},
          {1, 65, {4}},
          {1, 100, {1, 2, 4, 8, 32}},
          {1, 2510, {16}},
          {1, 4097, {32}},
          {2, 33, {2}},
          {2, 100, {4}}};
}

/// On the checked device one group of query heads says the same as several, and one head of long cases.
std::vector<Heads> isolation_heads(int64_t rows) {
  if (!checked) return {{14, 2, 64}, {28, 4, 128}};
  if (rows > 100) return {{1, 1, 64}, {1, 1, 128}};
  return {{3, 1, 64}, {2, 2, 128}};
}

bool fits(const Heads& heads, KvFormat format) {
  return format != KvFormat::q8_0 || heads.kv_dim() % 32 == 0;
}

/// Each way against double, and one against the other.
void check_flash_and_split(const AttentionInputs& inputs, int chunks) {
  for (const KvFormat format : formats) {
    const std::vector<float> flash = check(inputs, format, metal::emit_decode_flash, chunks);
    if (format == KvFormat::q8_0) continue;  // split reads no packed rows
    const std::vector<float> split = check(inputs, format, metal::emit_decode_split, chunks);
    CHECK(cosine(flash, {split.begin(), split.end()}) > tol::metal_attention_twin_cosine);
  }
}

TEST_CASE("isolation: decode flash and split in every shape, against double and each other") {
  for (const Case& c : isolation_cases()) {
    for (const Heads& heads : isolation_heads(c.rows)) {
      const auto inputs = AttentionInputs::waves(heads, last_positions(c.tokens, c.rows), c.rows);
      for (const int chunks : c.chunks) check_flash_and_split(inputs, chunks);
    }
  }
}

const std::vector<Case> several_tokens = {{37, 37, {}}, {33, 40, {}}, {33, 65, {}}, {33, 100, {}}};

TEST_CASE("isolation: classic and split attention of several tokens") {
  for (const Case& c : several_tokens) {
    for (const Heads& heads :
         checked ? std::vector<Heads>{{1, 1, 64}} : std::vector<Heads>{{14, 2, 64}, {4, 2, 128}}) {
      const auto inputs = AttentionInputs::waves(heads, last_positions(c.tokens, c.rows), c.rows);
      for (const KvFormat format : plain_formats) {
        check(inputs, format, metal::emit_attention_classic);
        check(inputs, format, metal::emit_decode_split);
      }
    }
  }
}

TEST_CASE("classic attention matches the double calculation for any width and number of tokens") {
  std::vector<Case> cases = {{1, 1, {}}, {3, 33, {}}};
  if (!checked) cases.insert(cases.end(), {{1, 65, {}}, {33, 65, {}}});
  for (const Heads& heads : std::vector<Heads>{
           {4, 2, 64}, {3, 1, 36}, {8, 8, 4}, {9, 1, 60}, {2, 1, 128}, {2, 2, 160}, {2, 1, 256}}) {
    for (const Case& c : cases) {
      const auto inputs = AttentionInputs::waves(heads, last_positions(c.tokens, c.rows), c.rows);
      for (const KvFormat format : formats) {
        if (fits(heads, format)) check(inputs, format, metal::emit_attention_classic);
      }
    }
  }
}

TEST_CASE("decode flash and split have every fast width, and any number of query heads a KV head") {
  std::vector<Heads> shapes = {{4, 2, 80}, {3, 3, 96}, {2, 1, 256}, {9, 1, 64}};
  if (!checked) shapes.insert(shapes.end(), {{12, 1, 80}, {16, 2, 128}, {40, 1, 64}});
  for (const Heads& heads : shapes) {
    for (const int64_t rows : checked ? std::vector<int64_t>{70} : std::vector<int64_t>{31, 70, 600}) {
      const auto inputs = AttentionInputs::random(heads, last_positions(1, rows), rows);
      for (const KvFormat format : formats) {
        if (fits(heads, format)) check(inputs, format, metal::emit_decode_flash);
      }
      for (const KvFormat format : plain_formats) check(inputs, format, metal::emit_decode_split);
    }
  }
}

TEST_CASE("results depend on the visible rows alone, not on the region's length") {
  const auto inputs = AttentionInputs::random({2, 1, 64}, {99}, 100);
  for (const KvFormat format : formats) {
    for (const Emit& emit : {Emit(metal::emit_decode_flash), Emit(metal::emit_attention_classic)}) {
      AttentionRun tight(inputs, format, emit, 100), wide(inputs, format, emit, 900);
      CHECK(same_bits(tight.outputs(), wide.outputs()));
    }
  }
}

TEST_CASE("a decode program runs at positions that it was not made with, to the bit of one that was") {
  const auto inputs = AttentionInputs::random({2, 1, 64}, {20}, 600);
  for (const Emit& emit : {Emit(metal::emit_decode_flash), Emit(metal::emit_decode_split),
                           Emit(metal::emit_attention_classic)}) {
    AttentionRun run(inputs, KvFormat::f16, emit);
    for (const int32_t position : {20, 599, 0, 31, 32, 511}) {
      if (checked && position > 32) continue;
      AttentionInputs moved = inputs;
      moved.positions = {position};
      const std::vector<float> found = run.outputs_at(moved.positions);
      CHECK(worst_difference(found, attention_in_double(moved, KvFormat::f16)) <= tol::metal_attention_f32);
      CHECK(same_bits(found, run_attention(moved, KvFormat::f16, emit)));
    }
  }
}

TEST_CASE("queries at positions in any order") {
  const auto inputs = AttentionInputs::random({2, 1, 64}, {70, 3, 69, 0, 70}, 71);
  for (const Emit& emit : {Emit(metal::emit_decode_flash), Emit(metal::emit_decode_split),
                           Emit(metal::emit_attention_classic)}) {
    check(inputs, KvFormat::f32, emit);
  }
}

TEST_CASE("metal_packed_decode_stage_matches_the_native_read") {
  const auto staged = [](metal::Encoder& encoder, const metal::AttentionCall& call) {
    metal::AttentionCall plain = call;
    plain.kv = emit_kv_unpack(encoder, call);
    plain.op.format = KvFormat::f32;
    emit_decode_flash(encoder, plain);
  };
  for (const Heads& heads : {Heads{2, 1, 96}, Heads{4, 2, 80}, Heads{2, 1, 64}}) {
    const auto inputs = AttentionInputs::random(heads, {76}, 77);
    // Both read q * d; the compiler may take d out of a sum in one of them.
    const std::vector<float> read = check(inputs, KvFormat::q8_0, metal::emit_decode_flash);
    const std::vector<float> unpacked = check(inputs, KvFormat::q8_0, staged);
    CHECK(worst_difference(read, {unpacked.begin(), unpacked.end()}) <= tol::metal_attention_order);
  }
}

TEST_CASE("scores beyond the range of half keep their difference in decode") {
  AttentionInputs inputs = AttentionInputs::random({1, 1, 64}, {1}, 2);
  std::fill(inputs.q.begin(), inputs.q.end(), 80.0f);
  std::fill(inputs.k.begin(), inputs.k.end(), 40.0f);
  inputs.k[64] = 39.5f;  // 204800 and 204760, 5 apart when scaled
  const std::vector<double> right = attention_in_double(inputs, KvFormat::f32);
  for (const Emit& emit : {Emit(metal::emit_decode_flash), Emit(metal::emit_decode_split),
                           Emit(metal::emit_attention_classic)}) {
    CHECK(worst_difference(run_attention(inputs, KvFormat::f32, emit), right) <= tol::half_range_case);
  }
}

TEST_CASE("a family refuses a head width that it has no kernel for, naming it") {
  const auto inputs = AttentionInputs::random({2, 1, 36}, {4}, 5);
  for (const Emit& emit : {Emit(metal::emit_decode_flash), Emit(metal::emit_decode_split)}) {
    const Refused r = refused([&] { run_attention(inputs, KvFormat::f32, emit); });
    CHECK(r.thrown);
    CHECK(r.message.find("heads of 36") != std::string::npos);
  }
}

}  // namespace
}  // namespace minfer::test
