#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace minfer {

/// Passes text through until a stop string appears, whole or across pieces. Holds back only what could still
/// become one. Of several the earliest start wins; nothing of it is ever passed on.
class StopFilter {
 public:
  /// Empty stop strings are refused: Error{bad_request}.
  explicit StopFilter(std::vector<std::string> stops);
  /// The text that is certain after this piece. Once stopped() is true it returns nothing more.
  std::string push(std::string_view piece);
  /// The held-back tail at the end of the text.
  std::string finish();
  bool stopped() const { return stopped_; }

 private:
  std::vector<std::string> stops_;
  std::string held_;
  bool stopped_ = false;
};

}  // namespace minfer
