// Translates a source given as text, as if the preprocessor had read it from `t.metal` in a temporary folder.
#pragma once
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "mslgen/unit.h"

namespace metalsim::test {

/// Writes the text to a file, because columns of errors are looked up there.
class SourceFile {
 public:
  explicit SourceFile(const std::string& text) : text_(text) {
    folder_ = std::filesystem::temp_directory_path() / ("mslgen_test_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
    std::ofstream(path()) << text;
  }
  ~SourceFile() { std::filesystem::remove_all(folder_); }
  std::string path() const { return (folder_ / "t.metal").string(); }

  /// The C++ source. Throws mslgen::SourceError.
  std::string translate() const {
    const mslgen::Source source("# 1 \"" + path() + "\"\n" + text_);
    return mslgen::write_cpp(mslgen::read_unit(source), "test");
  }

  /// The error without its folder: "t.metal:1:5: error: ..."; "no error" if there is none.
  std::string error() const {
    try {
      translate();
      return "no error";
    } catch (const mslgen::SourceError& found) {
      const std::string what = found.what(), folder = folder_.string() + "/";
      return what.compare(0, folder.size(), folder) == 0 ? what.substr(folder.size()) : what;
    }
  }

 private:
  std::string text_;
  std::filesystem::path folder_;
};

inline std::string translate(const std::string& text) { return SourceFile(text).translate(); }
inline std::string error_of(const std::string& text) { return SourceFile(text).error(); }

}  // namespace metalsim::test
