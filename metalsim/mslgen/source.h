/// A preprocessed Metal source: its text, and for every place in it the file and line that it came from.
#pragma once
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace metalsim::mslgen {

/// A place in a file that the user wrote. Lines and columns count from 1.
struct Place {
  std::string file;
  uint32_t line = 0;
  uint32_t column = 0;
};

/// What mslgen does not understand or Metal does not allow; what() reads "file:line:column: error: message".
class SourceError : public std::runtime_error {
 public:
  SourceError(const Place& place, const std::string& message);
};

/// The output of `clang++ -E`: text with line markers (`# 12 "kernels/mv.metal"`).
class Source {
 public:
  explicit Source(std::string text);

  const std::string& text() const { return text_; }

  /// The place of the characters [begin, end). The preprocessor has changed the spaces between words, so the
  /// column is looked up in the file itself; 1 if the text is not there (it came out of a macro).
  Place place(size_t begin, size_t end) const;

  /// The file that was given to the preprocessor.
  const std::string& main_file() const { return main_file_; }

 private:
  struct Line {
    size_t begin;   // offset of its first character
    uint32_t file;  // index in files_
    uint32_t number;
  };

  const Line& line_at(size_t offset) const;

  std::string text_;
  std::vector<Line> lines_;
  std::vector<std::string> files_;
  std::string main_file_;
};

/// Whether a character may stand in an identifier.
inline bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}
inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace metalsim::mslgen
