// mslgen INPUT --library NAME -o OUTPUT
// mslgen INPUT --lint -o OUTPUT
//
// INPUT is a Metal source after `clang++ -E`; OUTPUT is the C++ source of its kernels, which METALSIM's
// runtime runs. cmake/AddMetalLibrary.cmake does both steps. With
// --lint, OUTPUT is for clang's check of address spaces. Errors are printed as "file:line:column: error:
// message" with the places of the .metal file; the exit status is then 1.
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>

#include "unit.h"

namespace {

struct Arguments {
  std::string input, output, library;
  bool lint = false;
};

bool parse(int count, char** values, Arguments& out) {
  for (int i = 1; i < count; ++i) {
    const bool more = i + 1 < count;
    if (!std::strcmp(values[i], "-o") && more)
      out.output = values[++i];
    else if (!std::strcmp(values[i], "--library") && more)
      out.library = values[++i];
    else if (!std::strcmp(values[i], "--lint"))
      out.lint = true;
    else if (values[i][0] != '-' && out.input.empty())
      out.input = values[i];
    else
      return false;
  }
  return !out.input.empty() && !out.output.empty() && (out.lint || !out.library.empty());
}

int run(const Arguments& arguments) {
  std::ifstream in(arguments.input, std::ios::binary);
  if (!in) {
    std::cerr << "mslgen: cannot read " << arguments.input << "\n";
    return 1;
  }
  std::ostringstream text;
  text << in.rdbuf();
  const metalsim::mslgen::Source source(text.str());
  const metalsim::mslgen::Unit unit = metalsim::mslgen::read_unit(source);
  const std::string result = arguments.lint ? write_lint(unit) : write_cpp(unit, arguments.library);
  std::ofstream out(arguments.output, std::ios::binary);
  out << result;
  if (!out.flush()) {
    std::cerr << "mslgen: cannot write " << arguments.output << "\n";
    return 1;
  }
  return 0;
}

}  // namespace

int main(int count, char** values) {
  Arguments arguments;
  if (!parse(count, values, arguments)) {
    std::cerr << "usage: mslgen INPUT (--library NAME | --lint) -o OUTPUT\n";
    return 2;
  }
  try {
    return run(arguments);
  } catch (const metalsim::mslgen::SourceError& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
