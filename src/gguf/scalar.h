#pragma once
#include <cstdint>
#include <string_view>
#include <variant>

#include "gguf/gguf.h"

namespace minfer::gguf {

/// One decoded metadata value. The small integer types widen to 64 bits.
using Scalar = std::variant<int64_t, uint64_t, float, double, bool, std::string_view>;

/// Walks the elements of a value; a value that is no array has one.
class Elements {
 public:
  explicit Elements(const Value& value) : value_(value), left_(value.count) {}
  bool done() const { return left_ == 0; }
  Scalar next();

 private:
  const Value& value_;
  uint64_t left_;
  size_t at_ = 0;
};

}  // namespace minfer::gguf
