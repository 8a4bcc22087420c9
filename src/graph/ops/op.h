#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "graph/kv_format.h"
#include "graph/tensor_desc.h"

/// What every op header needs: named weights, the sources' descriptions, and the checks that shape rules are
/// made of.
namespace minfer {

/// A weight by name: [rows][cols] in the file, cols fastest. A matmul maps `cols` inputs to `rows` outputs.
struct WeightRef {
  std::string name;
  DType type = DType::f32;
  int64_t cols = 0;
  int64_t rows = 1;
  bool operator==(const WeightRef&) const = default;
};

/// What an op's shape rule sees.
struct OpInputs {
  std::span<const TensorDesc> sources;
  int64_t n_ctx;  ///< rows of each KV region
  const TensorDesc& operator[](size_t index) const { return sources[index]; }
};

/// The checks of one op. Each throws Error{bad_model} "OP: what was found, what was expected".
class ShapeRule {
 public:
  explicit ShapeRule(std::string_view op) : op_(op) {}
  void sources(const OpInputs& in, size_t count) const;
  void sources(const OpInputs& in, size_t at_least, size_t at_most) const;
  void f32(std::string_view what, const TensorDesc& desc) const;
  /// An f32 value of `cols` columns and `rows` rows.
  void f32(std::string_view what, const TensorDesc& desc, int64_t cols, int64_t rows) const;
  /// `count` ids, positions, cells or window words.
  void i32(std::string_view what, const TensorDesc& desc, int64_t count) const;
  void equal(std::string_view what, int64_t found, int64_t expected) const;
  void positive(std::string_view what, int64_t found) const;
  void multiple(std::string_view what, int64_t found, int64_t of) const;
  void holds(bool condition, std::string_view found, std::string_view expected) const;
  /// A gain, bias or table of factors: f32, one row of `length` values.
  void vector(std::string_view what, const WeightRef& weight, int64_t length) const;
  /// A matrix of whole blocks that maps rows of `cols` values.
  void matrix(std::string_view what, const WeightRef& weight, int64_t cols) const;

 private:
  std::string_view op_;
};

}  // namespace minfer
