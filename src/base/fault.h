#pragma once
#include <string_view>

namespace minfer {

/// Counts the calls of one chokepoint and fails the one that MINFER_TEST_CALL_FAIL names: a comma list of
/// POINT@N, N counted from 1. Read once, when the point is made; off when unset.
class FaultPoint {
 public:
  /// Throws Error{bad_request} if the variable names this point without a number.
  explicit FaultPoint(std::string_view point);
  /// Counts a call; true if it must fail.
  bool hit() { return ++calls_ == fails_at_; }

 private:
  long calls_ = 0;
  long fails_at_ = 0;  ///< 0: never
};

}  // namespace minfer
