#include "engine/top_logits.h"

#include <algorithm>

namespace minfer {
namespace {

constexpr size_t block = 64;

bool ranks_before(const Candidate& a, const Candidate& b) {
  return a.logit != b.logit ? a.logit > b.logit : a.id < b.id;
}

/// Calls take(i) for the logits from `first` on that are greater than `floor`, which take may raise. Blocks
/// without any are passed over by a loop without branches, which compilers turn into vectors.
template <class Take>
void for_each_above(std::span<const float> logits, size_t first, float& floor, Take take) {
  for (size_t begin = first; begin < logits.size(); begin += block) {
    const std::span<const float> here = logits.subspan(begin, std::min(block, logits.size() - begin));
    int above = 0;
    for (const float logit : here) above += logit > floor;
    for (size_t i = 0; above > 0 && i < here.size(); ++i) {
      if (here[i] > floor) take(begin + i);
    }
  }
}

}  // namespace

Token first_maximum(std::span<const float> logits) {
  size_t best = 0;
  float highest = logits[0];
  for_each_above(logits, 1, highest, [&](size_t i) {
    best = i;
    highest = logits[i];
  });
  return Token(best);
}

void best_candidates(std::span<const float> logits, size_t k, std::vector<Candidate>& best) {
  if (k == 0 || k > logits.size()) k = logits.size();
  const size_t room = std::min(k + std::max<size_t>(k, 256), logits.size());
  best.clear();
  for (size_t i = 0; i < room; ++i) best.push_back({Token(i), logits[i]});
  float floor = 0;
  const auto keep_k = [&] {
    std::nth_element(best.begin(), best.begin() + long(k) - 1, best.end(), ranks_before);
    best.resize(k);
    floor = best.back().logit;
  };
  keep_k();
  // An equal of the k-th best that comes later has the greater id and ranks behind it.
  for_each_above(logits, room, floor, [&](size_t i) {
    best.push_back({Token(i), logits[i]});
    if (best.size() == room) keep_k();
  });
  keep_k();
  std::sort(best.begin(), best.end(), ranks_before);
}

}  // namespace minfer
