#pragma once
#include <optional>
#include <string>
#include <vector>

#include "gguf/gguf.h"
#include "graph/ops.h"

namespace minfer {

/// Looks tensors up by name and checks type and shape; collects what was found.
class WeightFinder {
 public:
  explicit WeightFinder(const gguf::File& file) : file_(file) {}

  /// A [rows][cols] weight of any type. Throws Error{bad_model} if it is missing or has another shape.
  WeightRef matrix(const std::string& name, int64_t cols, int64_t rows) const;
  /// An F32 vector (norm gain, bias, rope factors), or Error{bad_model}.
  WeightRef vector(const std::string& name, int64_t length) const;
  bool has(const std::string& name) const { return file_.find_tensor(name) != nullptr; }

 private:
  const gguf::TensorInfo& required(const std::string& name) const;
  const gguf::File& file_;
};

}  // namespace minfer
