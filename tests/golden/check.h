#pragma once
#include <cstdint>
#include <string_view>

#include "golden/golden.h"

namespace minfer::golden {

/// A file's prompts of up to `longest` tokens on the device of `options`: the last token's logits, the argmax
/// at each position, the likelihood and the greedy continuation, within `tolerance` of the largest |logit|.
/// Returns the largest error of the last logits.
double check_file(const std::string& name, const SessionOptions& options, double tolerance,
                  size_t longest = SIZE_MAX);

void report(const std::string& name, std::string_view kv, double error, double tolerance);

}  // namespace minfer::golden
