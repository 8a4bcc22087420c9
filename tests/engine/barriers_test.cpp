#include <doctest/doctest.h>

#include <numeric>
#include <vector>

#include "backends/cpu/program.h"

using namespace minfer;

namespace {

cpu::Access all_of(const std::vector<int64_t>& v) { return {v.data(), v.size() * sizeof v[0]}; }

/// As a layer of a model has it: a team writes, one worker sums up and goes on, a team reads.
struct Layers {
  std::vector<int64_t> parts, sum, twice, seen;
  cpu::CpuProgram program;

  Layers(int workers, int layers) : parts(size_t(workers)), sum(1), twice(1), seen(size_t(workers)) {
    for (int layer = 1; layer <= layers; ++layer) {
      team({"parts",
            [this](const cpu::Lane& lane) { parts[at(lane)] += twice[0] + lane.worker.index + 1; },
            {all_of(twice)},
            {all_of(parts)}});
      solo({"sum",
            [this](const cpu::Lane& lane) {
              CHECK(lane.worker.count == 1);
              sum[0] = std::accumulate(parts.begin(), parts.end(), int64_t(0)) % 1000;
            },
            {all_of(parts)},
            {all_of(sum)}});
      solo({"twice", [this](const cpu::Lane&) { twice[0] = 2 * sum[0]; }, {all_of(sum)}, {all_of(twice)}});
      team({"seen",
            [this](const cpu::Lane& lane) { seen[at(lane)] += twice[0]; },
            {all_of(twice)},
            {all_of(seen)}});
    }
    cpu::plan_barriers(program.steps);
  }
  static size_t at(const cpu::Lane& lane) { return size_t(lane.worker.index); }
  void team(cpu::Step step) { program.steps.push_back(std::move(step)); }
  void solo(cpu::Step step) {
    step.solo = true;
    program.steps.push_back(std::move(step));
  }
};

/// What every worker must have seen, computed one after the other.
int64_t expected(int workers, int layers) {
  std::vector<int64_t> parts(static_cast<size_t>(workers));
  int64_t twice = 0, seen = 0;
  for (int layer = 0; layer < layers; ++layer) {
    int64_t sum = 0;
    for (int w = 0; w < workers; ++w) sum += parts[size_t(w)] += twice + w + 1;
    twice = 2 * (sum % 1000);
    seen += twice;
  }
  return seen;
}

}  // namespace

TEST_CASE("steps of one worker are done inside the barrier before them") {
  for (const int workers : {1, 2, 3, 5}) {
    CAPTURE(workers);
    constexpr int layers = 400;
    Layers made(workers, layers);
    int barriers = 0;
    for (const cpu::Step& step : made.program.steps) barriers += step.barrier_before;
    CHECK(barriers == layers);  // parts to sum; nothing from there to the next layer's parts needs one
    ThreadPool pool(workers);
    made.program.run(pool, nullptr);
    for (const int64_t seen : made.seen) CHECK(seen == expected(workers, layers));
  }
}

TEST_CASE("a program that is cancelled does no more steps of one worker either") {
  ThreadPool pool(2);
  Layers made(2, 3);
  const std::atomic<bool> at_once{true};
  made.program.run(pool, &at_once);
  CHECK(made.sum[0] == 0);
  CHECK(made.seen == std::vector<int64_t>{0, 0});
}
