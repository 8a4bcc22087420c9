/// Lines of a kernel source found by comments in it, so that tests need no line numbers.
#pragma once
#include <fstream>
#include <string>

namespace metalsim::test {

/// The line, from 1, of the first `marker` inside the kernel `name` of the file; 0 if it has none.
inline uint32_t marked_line(const std::string& file, const std::string& name, const std::string& marker) {
  std::ifstream in(file);
  std::string line;
  bool inside = false;
  for (uint32_t number = 1; std::getline(in, line); ++number) {
    const bool begins = line.find("kernel void ") != std::string::npos;
    if (begins) inside = line.find(" " + name + "(") != std::string::npos;
    if (inside && line.find("// " + marker) != std::string::npos) return number;
  }
  return 0;
}

}  // namespace metalsim::test
