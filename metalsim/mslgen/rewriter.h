/// Replacing pieces of a source in place.
#pragma once
#include <optional>

#include "unit.h"

namespace metalsim::mslgen {

/// Collects replacements. Line breaks inside a replaced piece stay, so that line numbers hold; a replacement
/// inside a piece that is replaced as a whole is dropped.
class Rewriter {
 public:
  explicit Rewriter(const Unit& unit) : unit_(unit) {}

  void replace(size_t begin, size_t end, const std::string& by) { edits_.push_back({begin, end, by}); }
  void replace(const Token& token, const std::string& by) { replace(token.begin, token.end, by); }
  void replace(Range range, const std::string& by) {
    replace(unit_.tokens[range.begin].begin, unit_.tokens[range.end - 1].end, by);
  }
  void insert_after(const Token& token, const std::string& what) { replace(token.end, token.end, what); }

  std::string result();

 private:
  struct Edit {
    size_t begin, end;
    std::string by;
  };
  const Unit& unit_;
  std::vector<Edit> edits_;
};

/// A string as a C++ literal.
std::string quoted(const std::string& value);

/// A floating-point literal without suffix is a float in Metal; `h` makes a half and `bf` a bfloat. Nothing
/// for literals that mean the same in C++.
std::optional<std::string> metal_number(std::string_view text);

}  // namespace metalsim::mslgen
