#include <doctest/doctest.h>

#include "backends/metal/ops/attention_route.h"

namespace minfer::metal {
namespace {

using Route = AttentionRoute;

std::string_view routed(int64_t tokens, int64_t head_dim, KvFormat format, const Settings& settings = {}) {
  return name(attention_route(tokens, head_dim, format, settings));
}

Settings without_flash() {
  Settings settings;
  settings.flash = false;
  return settings;
}

TEST_CASE("the fast widths take the flash families, all others the classic kernel") {
  for (const KvFormat format : {KvFormat::f32, KvFormat::f16}) {
    for (const int64_t width : {64, 80, 96, 128, 256}) {
      CHECK(routed(1, width, format) == "decode_flash");
      CHECK(routed(2, width, format) == "prefill_flash");
      CHECK(routed(700, width, format) == "prefill_flash");
    }
    for (const int64_t width : {4, 32, 60, 68, 112, 160, 252}) {
      CHECK(routed(1, width, format) == "classic");
      CHECK(routed(2, width, format) == "classic");
    }
  }
}

TEST_CASE("each opt-out leads to the next family, and touches only its own number of tokens") {
  Settings settings = without_flash();
  CHECK(routed(1, 64, KvFormat::f16, settings) == "decode_split");
  CHECK(routed(2, 64, KvFormat::f16, settings) == "prefill_flash");
  settings.split_attention = false;
  CHECK(routed(1, 64, KvFormat::f16, settings) == "classic");
  settings.flash = true;
  CHECK(routed(1, 64, KvFormat::f16, settings) == "decode_flash");

  settings = {};
  settings.prefill_flash = false;
  CHECK(routed(2, 64, KvFormat::f16, settings) == "prefill_three_pass");
  CHECK(routed(1, 64, KvFormat::f16, settings) == "decode_flash");
  settings.matmul_attention = false;
  CHECK(routed(2, 64, KvFormat::f16, settings) == "classic");
  // The copy is for packed rows.
  settings = {};
  settings.packed_stage = true;
  CHECK(routed(1, 64, KvFormat::f16, settings) == "decode_flash");
}

TEST_CASE(
    "packed rows are read by decode flash, unpacked for the rest of the flash families, or go classic") {
  const KvFormat q8_0 = KvFormat::q8_0;
  CHECK(routed(1, 128, q8_0) == "decode_flash");
  CHECK(routed(2, 128, q8_0) == "staged_prefill_flash");
  CHECK(routed(1, 32, q8_0) == "classic");
  CHECK(routed(2, 32, q8_0) == "classic");
  Settings staged;
  staged.packed_stage = true;
  CHECK(routed(1, 128, q8_0, staged) == "staged_decode_flash");
  CHECK(routed(2, 128, q8_0, staged) == "staged_prefill_flash");
  CHECK(routed(1, 32, q8_0, staged) == "classic");
  staged.flash = false;
  CHECK(routed(1, 128, q8_0, staged) == "classic");
  CHECK(routed(1, 128, q8_0, without_flash()) == "classic");
  Settings no_prefill;
  no_prefill.prefill_flash = false;
  CHECK(routed(2, 128, q8_0, no_prefill) == "classic");
  CHECK(routed(1, 128, q8_0, no_prefill) == "decode_flash");
}

}  // namespace
}  // namespace minfer::metal
