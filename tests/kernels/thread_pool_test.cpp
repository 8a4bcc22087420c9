#include "base/thread_pool.h"

#include <doctest/doctest.h>

#include <thread>
#include <vector>

#include "base/error.h"

using namespace minfer;

TEST_CASE("shares cover the whole range in order, in whole steps, evenly") {
  for (const int64_t n : {0, 1, 7, 32, 33, 1000}) {
    for (const int64_t step : {1, 4, 32}) {
      for (const int count : {1, 2, 3, 8, 64}) {
        int64_t end = 0, shortest = n + 1, longest = 0;
        for (int i = 0; i < count; ++i) {
          const Range r = share(n, step, Worker{i, count, nullptr});
          CHECK(r.begin == end);
          CHECK((r.begin % step == 0 || r.begin == n));
          CHECK(r.end >= r.begin);
          const int64_t steps = (r.end - r.begin + step - 1) / step;
          shortest = std::min(shortest, steps);
          longest = std::max(longest, steps);
          end = r.end;
        }
        CHECK(end == n);
        CHECK(longest - shortest <= 1);
      }
    }
  }
}

TEST_CASE("counts of threads that cannot be are refused") {
  for (const int threads : {0, -1, 1000000}) {
    try {
      ThreadPool pool(threads);
      FAIL("no refusal");
    } catch (const Error& e) {
      CHECK(e.code == ErrorCode::bad_request);
      CHECK(std::string(e.what()).find(std::to_string(threads)) != std::string::npos);
    }
  }
}

TEST_CASE("every worker runs each job once, and the caller is worker 0") {
  for (const int threads : {1, 2, 3, 5}) {
    ThreadPool pool(threads);
    CHECK(pool.threads() == threads);
    std::vector<int> runs(size_t(threads), 0);
    const auto caller = std::this_thread::get_id();
    for (int job = 0; job < 200; ++job) {
      pool.run([&](const Worker& w) {
        ++runs[size_t(w.index)];
        if ((w.index == 0) != (std::this_thread::get_id() == caller) || w.count != threads)
          runs[0] = -1000000;
      });
    }
    for (const int count : runs) CHECK(count == 200);
  }
}

TEST_CASE("a barrier separates writes from reads, also with more threads than cores") {
  for (const int threads : {2, 3, 7}) {
    ThreadPool pool(threads);
    std::vector<int64_t> slot(size_t(threads), 0), sums(size_t(threads), 0);
    constexpr int rounds = 300;
    pool.run([&](const Worker& w) {
      for (int round = 1; round <= rounds; ++round) {
        slot[size_t(w.index)] = round * (w.index + 1);
        w.barrier();
        for (const int64_t s : slot) sums[size_t(w.index)] += s;
        w.barrier();
      }
    });
    const int64_t want = int64_t(rounds) * (rounds + 1) / 2 * threads * (threads + 1) / 2;
    for (const int64_t s : sums) CHECK(s == want);
  }
}

TEST_CASE("the last to arrive at a barrier works alone, after all before it and before all behind it") {
  for (const int threads : {1, 2, 3, 7}) {
    ThreadPool pool(threads);
    std::vector<int64_t> slot(size_t(threads), 0), seen(size_t(threads), 0);
    int64_t sum = 0;  // not atomic: one worker at a time, ordered by the barrier
    constexpr int rounds = 300;
    pool.run([&](const Worker& w) {
      for (int round = 1; round <= rounds; ++round) {
        slot[size_t(w.index)] = round;
        w.barrier([&] {
          for (const int64_t s : slot) sum += s;
        });
        seen[size_t(w.index)] += sum;
        w.barrier();
      }
    });
    int64_t want = 0, all = 0;
    for (int round = 1; round <= rounds; ++round) want += all += int64_t(round) * threads;
    for (const int64_t s : seen) CHECK(s == want);
  }
}

TEST_CASE("workers that fell asleep wake for the next job, and for a barrier that came late") {
  using namespace std::chrono_literals;
  ThreadPool pool(3);
  std::vector<int> runs(3, 0);
  for (int job = 0; job < 3; ++job) {
    std::this_thread::sleep_for(5ms);  // far beyond the time a worker spins
    pool.run([&](const Worker& w) {
      if (w.index == job) std::this_thread::sleep_for(5ms);
      w.barrier();
      ++runs[size_t(w.index)];
    });
  }
  CHECK(runs == std::vector<int>{3, 3, 3});
}

TEST_CASE("a pool that never ran, or whose workers sleep, ends at once") {
  for (int i = 0; i < 20; ++i) ThreadPool pool(4);
  ThreadPool pool(2);
  std::this_thread::sleep_for(std::chrono::milliseconds(3));
}

TEST_CASE("at least one core is usable") { CHECK(usable_cores() >= 1); }
