#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "graph/graph.h"

/// Shape rules: the checks that graph/ops/*.h are written in, and the one entry that dispatches to them.
namespace minfer {
namespace {

[[noreturn]] void refuse(std::string_view op, const std::string& what) {
  throw Error(ErrorCode::bad_model, fmt::format("{}: {}", op, what),
              "the file does not fit its architecture; re-convert it");
}

}  // namespace

std::string to_string(const TensorDesc& desc) {
  std::string type(info(desc.dtype).name);
  std::transform(type.begin(), type.end(), type.begin(),
                 [](unsigned char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : char(c); });
  const auto& s = desc.shape;
  if (s[3] != 1) return fmt::format("{} [{}, {}, {}, {}]", type, s[0], s[1], s[2], s[3]);
  if (s[2] != 1) return fmt::format("{} [{}, {}, {}]", type, s[0], s[1], s[2]);
  return fmt::format("{} [{}, {}]", type, s[0], s[1]);
}

void ShapeRule::sources(const OpInputs& in, size_t count) const { sources(in, count, count); }

void ShapeRule::sources(const OpInputs& in, size_t at_least, size_t at_most) const {
  const size_t found = in.sources.size();
  if (found >= at_least && found <= at_most) return;
  const std::string range =
      at_least == at_most ? std::to_string(at_least) : fmt::format("{} to {}", at_least, at_most);
  refuse(op_, fmt::format("it has {} sources, expected {}", found, range));
}

void ShapeRule::f32(std::string_view what, const TensorDesc& desc) const {
  if (desc.dtype != DType::f32) refuse(op_, fmt::format("{} is {}, expected f32", what, to_string(desc)));
}

void ShapeRule::f32(std::string_view what, const TensorDesc& desc, int64_t cols, int64_t rows) const {
  if (desc.dtype == DType::f32 && desc.cols() == cols && desc.rows() == rows) return;
  refuse(op_, fmt::format("{} is {}, expected f32 [{}, {}]", what, to_string(desc), cols, rows));
}

void ShapeRule::i32(std::string_view what, const TensorDesc& desc, int64_t count) const {
  if (desc.dtype == DType::i32 && desc.elements() == count) return;
  refuse(op_, fmt::format("{} is {}, expected i32 with {} elements", what, to_string(desc), count));
}

void ShapeRule::equal(std::string_view what, int64_t found, int64_t expected) const {
  if (found != expected) refuse(op_, fmt::format("{} has {} values, expected {}", what, found, expected));
}

void ShapeRule::positive(std::string_view what, int64_t found) const {
  if (found <= 0) refuse(op_, fmt::format("{} is {}, expected at least 1", what, found));
}

void ShapeRule::multiple(std::string_view what, int64_t found, int64_t of) const {
  if (found % of != 0) refuse(op_, fmt::format("{} is {}, expected a multiple of {}", what, found, of));
}

void ShapeRule::holds(bool condition, std::string_view found, std::string_view expected) const {
  if (!condition) refuse(op_, fmt::format("found {}, expected {}", found, expected));
}

void ShapeRule::vector(std::string_view what, const WeightRef& weight, int64_t length) const {
  if (weight.type != DType::f32) {
    refuse(op_, fmt::format("{} {} is {}, expected F32", what, weight.name, info(weight.type).name));
  }
  const int64_t found = weight.cols * weight.rows;
  if (found != length) {
    refuse(op_, fmt::format("{} {} has {} values, expected {}", what, weight.name, found, length));
  }
}

void ShapeRule::matrix(std::string_view what, const WeightRef& weight, int64_t cols) const {
  if (weight.cols != cols || weight.cols <= 0) {
    refuse(op_, fmt::format("{} {} has rows of {}, expected {}", what, weight.name, weight.cols, cols));
  }
  if (weight.rows <= 0) {
    refuse(op_, fmt::format("{} {} has {} rows, expected at least 1", what, weight.name, weight.rows));
  }
  const DTypeInfo& type = info(weight.type);
  if (weight.type == DType::i32)
    refuse(op_, fmt::format("{} {} is i32, expected a weight type", what, weight.name));
  if (weight.cols % type.block_elements != 0) {
    refuse(op_, fmt::format("{} {} is {} with rows of {}, expected a multiple of {}", what, weight.name,
                            type.name, weight.cols, type.block_elements));
  }
}

TensorDesc infer(const Op& op, const std::vector<TensorDesc>& sources, int64_t n_ctx) {
  const OpInputs in{sources, n_ctx};
  return std::visit(
      [&](const auto& payload) -> TensorDesc {
        if constexpr (std::is_same_v<std::decay_t<decltype(payload)>, Input>) {
          MINFER_CHECK(false, "an input's shape is given by GraphBuilder::input");
          return {};
        } else {
          return payload.infer(in);
        }
      },
      op);
}

std::string_view op_name(const Op& op) {
  return std::visit([](const auto& payload) { return std::decay_t<decltype(payload)>::name; }, op);
}

}  // namespace minfer
