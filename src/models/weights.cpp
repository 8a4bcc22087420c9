#include "models/weights.h"

#include <fmt/format.h>

#include "base/error.h"

namespace minfer {
namespace {

[[noreturn]] void refuse(const gguf::File& file, const std::string& name, const std::string& what,
                         std::string hint) {
  throw Error(ErrorCode::bad_model, fmt::format("{}: tensor `{}` {}", file.path(), name, what),
              std::move(hint));
}

}  // namespace

const gguf::TensorInfo& WeightFinder::required(const std::string& name) const {
  const gguf::TensorInfo* tensor = file_.find_tensor(name);
  if (!tensor)
    refuse(file_, name, "is missing",
           "the file lacks a tensor that its architecture needs; convert the model again");
  return *tensor;
}

WeightRef WeightFinder::matrix(const std::string& name, int64_t cols, int64_t rows) const {
  const gguf::TensorInfo& tensor = required(name);
  if (tensor.shape.size() != 2 || tensor.cols() != cols || tensor.rows() != rows)
    refuse(file_, name,
           fmt::format("has shape [{}], expected [{}, {}]", fmt::join(tensor.shape, ", "), cols, rows),
           "the tensor does not fit the file's own hyperparameters");
  return {name, tensor.type, cols, rows};
}

WeightRef WeightFinder::vector(const std::string& name, int64_t length) const {
  const gguf::TensorInfo& tensor = required(name);
  if (tensor.cols() != length || tensor.rows() != 1)
    refuse(file_, name, fmt::format("has shape [{}], expected [{}]", fmt::join(tensor.shape, ", "), length),
           "the tensor does not fit the file's own hyperparameters");
  if (tensor.type != DType::f32)
    refuse(file_, name, fmt::format("has type {}, expected F32", info(tensor.type).name),
           "norms and biases are kept in F32; convert the model again");
  return {name, DType::f32, length, 1};
}

}  // namespace minfer
