#pragma once
#include <span>
#include <vector>

#include "tokenizer/tokenizer.h"

namespace minfer {

struct Candidate {
  Token id;
  float logit;
};

/// The id of the largest logit, the smallest of equals.
Token first_maximum(std::span<const float> logits);

/// The `k` best candidates in order (0 or too many: all): higher logits first, smaller ids first among
/// equals, so that the order is the same everywhere. One pass over the logits, which looks closely only at
/// what exceeds the k-th best so far.
void best_candidates(std::span<const float> logits, size_t k, std::vector<Candidate>& best);

}  // namespace minfer
