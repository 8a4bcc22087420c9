#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace minfer {

/// A pre-tokeniser's pattern, compiled. Immutable; safe from any thread.
class Splitter {
 public:
  /// `pattern` as tokenizer files publish it, where \s is the Unicode property White_Space. A pattern that
  /// does not compile is our own bug.
  explicit Splitter(std::string_view pattern);
  ~Splitter();
  Splitter(Splitter&&) noexcept;

  /// Appends the pieces of `text` (well-formed UTF-8) to `pieces`: every match, and every stretch between two
  /// matches. Constant stack. Throws Error{bad_request} if a match needs more than a few steps a byte.
  void split(std::string_view text, std::vector<std::string_view>& pieces) const;

 private:
  struct Code;
  std::unique_ptr<Code> code_;
};

}  // namespace minfer
