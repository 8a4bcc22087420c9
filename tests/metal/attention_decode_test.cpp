#include <doctest/doctest.h>

#include "metal/decode_scene.h"
#include "metal/emit_bench.h"
#include "metal/metal_device.h"
#include "tolerance.h"

/// Decode attention, each family by itself: flash, split and classic.
namespace minfer::test {
namespace {

constexpr KvFormat formats[] = {KvFormat::f32, KvFormat::f16, KvFormat::q8_0};

struct Case {
  int64_t tokens, rows;
  std::vector<int> chunks;
  bool large = false;  ///< too slow for the checked device
};

const std::vector<Case>& decode_cases() {
  static const std::vector<Case> cases = {{1, 1, {4}},
                                          {1, 5, {4}},
                                          {1, 30, {4}},
                                          {1, 33, {4}},
                                          {1, 64, {4}},
                                          {1, 65, {4}},
                                          {1, 100, {1, 2, 4, 8, 32}},
                                          {2, 33, {2}},
                                          {2, 100, {4}},
                                          {1, 2510, {16}, true},
                                          {1, 4097, {32}, true}};
  return cases;
}

/// On the checked device one group of query heads says the same as several.
std::vector<AttentionShape> decode_shapes() {
  if (checked) return {{3, 1, 64}, {2, 1, 128}};
  return {{14, 2, 64}, {28, 4, 128}};
}

void check_family(const AttentionScene::Emit& emit, const AttentionScene& scene, int chunks) {
  CAPTURE(scene.shape.head_dim);
  CAPTURE(name(scene.format));
  CAPTURE(scene.tokens);
  CAPTURE(scene.rows);
  CAPTURE(chunks);
  const std::vector<float> y = scene.run(emit, chunks);
  CHECK(scene.worst(y) <= tol::metal_attention);
  CHECK(same_bits(y, scene.run(emit, chunks)));
}

TEST_CASE("decode flash matches the double calculation at every row count and chunk count") {
  for (const AttentionShape& shape : decode_shapes()) {
    for (const KvFormat format : formats) {
      for (const Case& c : decode_cases()) {
        if (checked && (c.large || (format != KvFormat::f32 && c.rows == 64))) continue;
        const AttentionScene scene(shape, format, c.tokens, c.rows);
        for (const int chunks : c.chunks) check_family(metal::emit_decode_flash, scene, chunks);
      }
    }
  }
}

TEST_CASE("decode split matches the double calculation at every row count and chunk count") {
  for (const AttentionShape& shape : decode_shapes()) {
    for (const KvFormat format : {KvFormat::f32, KvFormat::f16}) {
      for (const Case& c : decode_cases()) {
        if (checked && (c.large || c.rows == 64)) continue;
        const AttentionScene scene(shape, format, c.tokens, c.rows);
        for (const int chunks : c.chunks) check_family(metal::emit_decode_split, scene, chunks);
      }
    }
  }
}

TEST_CASE("classic attention matches the double calculation for any width and number of tokens") {
  const std::vector<std::pair<int64_t, int64_t>> sizes =
      checked ? std::vector<std::pair<int64_t, int64_t>>{{1, 1}, {3, 33}}
              : std::vector<std::pair<int64_t, int64_t>>{{1, 1},   {1, 65},  {37, 37},
                                                         {33, 40}, {33, 65}, {33, 100}};
  for (const AttentionShape& shape : std::vector<AttentionShape>{
           {4, 2, 64}, {3, 1, 36}, {8, 8, 4}, {9, 1, 60}, {2, 1, 128}, {2, 2, 160}, {2, 1, 256}}) {
    for (const KvFormat format : formats) {
      if (format == KvFormat::q8_0 && shape.kv_dim() % 32 != 0) continue;
      for (const auto& [tokens, rows] : sizes) {
        check_family(metal::emit_attention_classic, AttentionScene(shape, format, tokens, rows), 0);
      }
    }
  }
}

TEST_CASE("decode flash and split have every fast width, and any number of query heads a KV head") {
  for (const AttentionShape& shape : std::vector<AttentionShape>{
           {4, 2, 80}, {3, 3, 96}, {2, 1, 256}, {9, 1, 64}, {12, 1, 80}, {16, 2, 128}}) {
    if (checked && shape.n_heads > 9) continue;
    for (const KvFormat format : formats) {
      if (format == KvFormat::q8_0 && shape.kv_dim() % 32 != 0) continue;
      for (const int64_t rows : {31, 70}) {
        if (checked && rows == 31) continue;
        const AttentionScene scene(shape, format, 1, rows);
        check_family(metal::emit_decode_flash, scene, 0);
        if (format != KvFormat::q8_0) check_family(metal::emit_decode_split, scene, 0);
      }
    }
  }
}

TEST_CASE(
    "decode results depend on the visible rows alone, not on the region's length or what lies behind them") {
  for (const KvFormat format : formats) {
    const AttentionShape shape{2, 1, 64};
    const AttentionScene tight(shape, format, 1, 100, 0), wide(shape, format, 1, 100, 700);
    for (const auto emit : {metal::emit_decode_flash, metal::emit_attention_classic}) {
      CHECK(same_bits(tight.run(emit), wide.run(emit)));
    }
  }
}

TEST_CASE("a family refuses a head width that it has no kernel for, naming it") {
  const AttentionScene scene({2, 1, 36}, KvFormat::f32, 1, 5);
  for (const auto emit : {metal::emit_decode_flash, metal::emit_decode_split}) {
    const Refused r = refused([&] { scene.run(emit); });
    CHECK(r.thrown);
    CHECK(r.message.find("heads of 36") != std::string::npos);
  }
}

}  // namespace
}  // namespace minfer::test
