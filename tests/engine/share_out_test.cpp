#include <doctest/doctest.h>

#include <chrono>
#include <thread>
#include <vector>

#include "backends/cpu/program.h"

using namespace minfer;

namespace {

/// A program of one step that shares out [0, n) and counts who did what.
struct Sharing {
  std::vector<std::atomic<int>> done;
  std::vector<std::atomic<int64_t>> by_worker;
  cpu::CpuProgram program;

  Sharing(int64_t n, int64_t step, int workers, int idle_worker)
      : done(size_t(n)), by_worker(size_t(workers)) {
    cpu::Step sharing;
    sharing.work = [this, n, step, idle_worker](const cpu::Lane& lane) {
      if (lane.worker.index == idle_worker) {
        // Until the others have done all of it, or for so long that the check below will fail.
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
        int64_t others = 0;
        while (others < n && std::chrono::steady_clock::now() < end) {
          std::this_thread::yield();
          others = 0;
          for (const auto& count : by_worker) others += count;
        }
      }
      lane.share_out(n, step, [&](Range piece) {
        CHECK(piece.begin % step == 0);
        CHECK(piece.end - piece.begin <= step);
        for (int64_t i = piece.begin; i < piece.end; ++i) ++done[size_t(i)];
        by_worker[size_t(lane.worker.index)] += piece.end - piece.begin;
      });
    };
    program.steps.push_back(std::move(sharing));
  }
};

}  // namespace

TEST_CASE("work that is shared out is done once, run after run") {
  for (const int workers : {1, 2, 3}) {
    ThreadPool pool(workers);
    for (const int64_t n : {0, 1, 31, 32, 33, 1000}) {
      CAPTURE(workers);
      CAPTURE(n);
      Sharing sharing(n, 32, workers, -1);
      for (int run = 1; run <= 20; ++run) {
        sharing.program.run(pool, nullptr);
        for (const auto& count : sharing.done) CHECK(count == run);
      }
    }
  }
}

TEST_CASE("workers do what a worker that is held up has not come to") {
  ThreadPool pool(3);
  for (const int held_up : {1, 2}) {
    Sharing sharing(1000, 32, 3, held_up);
    sharing.program.run(pool, nullptr);
    for (const auto& count : sharing.done) CHECK(count == 1);
    CHECK(sharing.by_worker[size_t(held_up)] == 0);
  }
}
