#include <doctest/doctest.h>

#include <vector>

#include "backends/cpu/program.h"

using namespace minfer;

namespace {

constexpr int64_t width = 3;

/// Steps that add to rows of values, as a residual and its norm do.
struct Rows {
  int64_t tokens;
  std::vector<int64_t> memory;  // values of `tokens` rows, and room behind them
  cpu::CpuProgram program;

  explicit Rows(int64_t count) : tokens(count), memory(size_t(4 * count * width)) {}
  int64_t* value(int index) { return memory.data() + index * tokens * width; }
  cpu::Access access(const int64_t* begin) const { return {begin, size_t(tokens * width) * sizeof(int64_t)}; }
  /// to = 2 from + 1, row by row.
  void add(int64_t* to, const int64_t* from, bool closes = false) {
    const auto rows = [to, from](Range mine, std::byte*) {
      for (int64_t i = mine.begin * width; i < mine.end * width; ++i) to[i] = 2 * from[i] + 1;
    };
    const auto work = [rows, count = tokens](const cpu::Lane& lane) {
      rows(share(count, 1, lane.worker), lane.scratch);
    };
    program.steps.push_back({"row", work, {access(from)}, {access(to)}, {tokens, rows, closes}});
  }
  size_t join_and_run(int workers) {
    cpu::join_rows(program.steps, workers);
    cpu::plan_barriers(program.steps);
    ThreadPool pool(workers);
    program.run(pool, nullptr);
    return program.steps.size();
  }
};

}  // namespace

TEST_CASE("steps that work token by token become one") {
  for (const int64_t tokens : {16, 31, 64, 200}) {
    CAPTURE(tokens);
    Rows rows(tokens);
    for (int64_t i = 0; i < tokens * width; ++i) rows.value(0)[i] = i;
    rows.add(rows.value(1), rows.value(0));
    rows.add(rows.value(1), rows.value(1));  // in place
    rows.add(rows.value(2), rows.value(1));
    CHECK(rows.join_and_run(2) == 1);
    for (int64_t i = 0; i < tokens * width; ++i) CHECK(rows.value(2)[i] == 8 * i + 7);
  }
}

TEST_CASE("a step that writes other rows than an earlier one reads stays apart") {
  Rows rows(64);
  for (int64_t i = 0; i < 64 * width; ++i) rows.value(0)[i] = i;
  int64_t* const shifted = rows.value(0) + width;
  rows.add(rows.value(2), rows.value(0));
  rows.add(shifted, rows.value(2));  // over what the first has yet to read of later rows
  CHECK(rows.join_and_run(2) == 2);
  for (int64_t i = 0; i < 64 * width; ++i) CHECK(shifted[i] == 4 * i + 3);
}

TEST_CASE("nothing joins what is quantised, nor steps of few tokens") {
  Rows closed(64);
  closed.add(closed.value(1), closed.value(0), true);
  closed.add(closed.value(2), closed.value(1));
  CHECK(closed.join_and_run(2) == 2);
  Rows few(31);
  few.add(few.value(1), few.value(0));
  few.add(few.value(2), few.value(1));
  CHECK(few.join_and_run(4) == 2);
}
