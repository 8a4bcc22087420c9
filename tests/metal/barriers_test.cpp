#include <doctest/doctest.h>

#include "backends/metal/program.h"

using namespace minfer::metal;

namespace {

/// A dispatch that reads and writes bytes of one buffer; which one is only a number here.
Dispatch touching(std::vector<std::pair<int, int>> reads, std::vector<std::pair<int, int>> writes) {
  auto* buffer = reinterpret_cast<MTL::Buffer*>(uintptr_t(64));
  Dispatch dispatch;
  for (auto [at, bytes] : reads)
    dispatch.arguments.push_back({1, {buffer, size_t(at), size_t(bytes)}, false});
  for (auto [at, bytes] : writes)
    dispatch.arguments.push_back({2, {buffer, size_t(at), size_t(bytes)}, true});
  return dispatch;
}

std::vector<bool> planned(std::deque<Dispatch> dispatches, BarrierMode mode = BarrierMode::planned) {
  plan_barriers(dispatches, mode);
  std::vector<bool> barriers;
  for (const Dispatch& dispatch : dispatches) barriers.push_back(dispatch.barrier_before);
  return barriers;
}

}  // namespace

TEST_CASE("a barrier stands where a dispatch reads what one before it wrote") {
  CHECK(planned({touching({}, {{0, 64}}), touching({{0, 64}}, {{64, 64}})}) == std::vector{false, true});
  CHECK(planned({touching({}, {{0, 64}}), touching({{63, 1}}, {})}) == std::vector{false, true});
  CHECK(planned({touching({}, {{0, 64}}), touching({{64, 64}}, {})}) == std::vector{false, false});
}

TEST_CASE("a barrier stands where a dispatch writes what one before it read or wrote") {
  CHECK(planned({touching({{0, 64}}, {}), touching({}, {{32, 8}})}) == std::vector{false, true});
  CHECK(planned({touching({}, {{0, 64}}), touching({}, {{32, 8}})}) == std::vector{false, true});
  CHECK(planned({touching({{0, 64}}, {}), touching({{0, 64}}, {})}) == std::vector{false, false});
}

TEST_CASE("a dispatch depends on all since the last barrier, and on none before it") {
  // 0 writes A, 1 writes B, 2 reads A: barrier. 3 reads B, which the barrier before 2 made visible: none.
  const std::deque<Dispatch> dispatches = {touching({}, {{0, 16}}), touching({}, {{16, 16}}),
                                           touching({{0, 16}}, {{32, 16}}), touching({{16, 16}}, {{48, 16}}),
                                           touching({{32, 32}}, {})};
  CHECK(planned(dispatches) == std::vector{false, false, true, false, true});
  CHECK(planned(dispatches, BarrierMode::all) == std::vector{false, true, true, true, true});
}
