#include <algorithm>
#include <utility>

#include "backends/cpu/isa/quant_tokens.h"
#include "backends/cpu/program.h"

namespace minfer::cpu {
namespace {

/// Tokens that go through a run together: what is quantised at once.
constexpr int64_t piece = token_tile;

/// Where both touch memory they mean the same rows, so that no token of one step reaches into another token
/// of the other.
bool same_rows(const std::vector<Access>& a, const std::vector<Access>& b) {
  return std::all_of(a.begin(), a.end(), [&](const Access& x) {
    return std::all_of(b.begin(), b.end(), [&](const Access& y) {
      return !overlap(x, y) || (x.begin == y.begin && x.bytes == y.bytes);
    });
  });
}

bool may_join(const Step& run, const Step& next, int workers) {
  const int64_t rows = run.by_rows.rows;
  return rows >= piece * workers && rows == next.by_rows.rows && !run.solo && !next.solo &&
         !run.by_rows.closes && same_rows(run.writes, next.writes) && same_rows(run.writes, next.reads) &&
         same_rows(run.reads, next.writes);
}

void append(std::vector<Access>& to, const std::vector<Access>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

void join(Step& run, Step next) {
  append(run.reads, next.reads);
  append(run.writes, next.writes);
  const auto both = [first = std::move(run.by_rows.work), then = std::move(next.by_rows.work)](
                        Range rows, std::byte* scratch) {
    first(rows, scratch);
    then(rows, scratch);
  };
  run.name = "rows";
  run.by_rows = {next.by_rows.rows, both, next.by_rows.closes};
  run.work = [rows = run.by_rows.rows, both](const Lane& lane) {
    lane.share_out(rows, piece, [&](Range mine) { both(mine, lane.scratch); });
  };
}

}  // namespace

void join_rows(std::vector<Step>& steps, int workers) {
  std::vector<Step> joined;
  for (Step& step : steps) {
    if (!joined.empty() && may_join(joined.back(), step, workers)) {
      join(joined.back(), std::move(step));
    } else {
      joined.push_back(std::move(step));
    }
  }
  steps = std::move(joined);
}

}  // namespace minfer::cpu
