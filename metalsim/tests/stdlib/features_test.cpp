// The kernels of kernels/features.metal: language features through the translator.
#include "kernels/features.h"

#include <cmath>

#include "kernel_run.h"

using namespace metalsim::test;

TEST_CASE("function constants, what is computed from them, and program-scope tables") {
  const float scale = 1.25f;
  const uint32_t vector[4] = {1, 2, 3, 4};
  struct Vector {
    uint32_t v[4];
  } value;
  std::memcpy(&value, vector, sizeof(value));
  for (const bool has_bias : {false, true}) {
    std::vector<float> out(11, -7), bias{42};
    KernelRun run("constants_and_tables");
    run.buffer(0, out)
        .constant("FC_scale", scale)
        .constant("FC_has_bias", has_bias)
        .constant("FC_vector", value);
    if (has_bias) run.buffer(1, bias).constant("FC_optional", uint16_t(3));
    run.threads(32, 32);
    CHECK(out == std::vector<float>{1.25f, has_bias ? 42.0f : -1.0f, has_bias ? 1.0f : 0.0f,
                                    has_bias ? 3.0f : 7.0f, 2.5f, 5, 8, 6, 1, 30, 1});
    CHECK((run.kernel().conditional & 3) == 2);
  }
}

TEST_CASE("vectors: constructors, swizzles, conversions, packed members, literals") {
  struct {
    float p[3], w;
  } pair{{1, 2, 3}, 4};
  std::vector<float> out(10, -7);
  KernelRun("vectors").buffer(0, out).bytes(1, &pair, sizeof(pair)).threads(1, 1);
  const float dot = 4 * 2 + 3 * 1.5f + 3 * 1.5f + 4 * 2;
  CHECK(out == std::vector<float>{dot, 15, 1065353216.0f, 14, 9, 2, 28, 3 + 0.5f + 8 + 3, 2.5f + 3, 3});
}

TEST_CASE("threadgroup variables of a template: several declarators, two dimensions, structures, atomics") {
  std::vector<float> in(64), out(64, NAN);
  for (int i = 0; i < 64; ++i) in[i] = float(i * i);
  KernelRun run("reversed_float_64");
  CHECK(run.kernel().max_threads == 64);
  run.buffer(0, out).buffer(1, in).threads(64, 64);
  for (int i = 0; i < 64; ++i) {
    const int other = 63 - i;
    CHECK(out[i] == in[other] * 3 + float(other & 3) + 64);
  }
  std::vector<int> ints(32, 5), result(32);
  KernelRun("reversed_int_32").buffer(0, result).buffer(1, ints).threads(32, 32);
  CHECK(result[31] == 5 * 3 + 0 + 32);
}

TEST_CASE("positions of every thread of a grid whose edge threadgroups are smaller") {
  const uint32_t width = 50, height = 6, group_width = 20, group_height = 4;
  std::vector<uint32_t> out(width * height * POSITION_VALUES, ~0u);
  KernelRun("positions").buffer(0, out).grid({width, height, 1}, {group_width, group_height, 1});
  for (uint32_t y = 0; y < height; ++y)
    for (uint32_t x = 0; x < width; ++x) {
      const uint32_t group_x = x / group_width, group_y = y / group_height;
      const uint32_t here_x = std::min(group_width, width - group_x * group_width);
      const uint32_t here_y = std::min(group_height, height - group_y * group_height);
      const uint32_t index = y % group_height * here_x + x % group_width;
      const uint32_t want[POSITION_VALUES] = {x,
                                              y,
                                              x % group_width,
                                              y % group_height,
                                              group_x,
                                              group_y,
                                              here_x * 100 + here_y,
                                              3 * 100 + 2,
                                              width * 100 + height,
                                              index,
                                              index % 32,
                                              index / 32,
                                              (here_x * here_y + 31) / 32 * 100 + 32,
                                              index % 4,
                                              index / 4};
      for (uint32_t i = 0; i < POSITION_VALUES; ++i) {
        INFO("thread (", x, ", ", y, "), value ", i);
        REQUIRE(out[(y * width + x) * POSITION_VALUES + i] == want[i]);
      }
    }
}
