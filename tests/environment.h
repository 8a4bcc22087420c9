#pragma once
#include <cstdlib>
#include <string>

namespace minfer::test {

/// A variable of the environment, set for one scope.
class Environment {
 public:
  Environment(std::string variable, const std::string& value) : variable_(std::move(variable)) {
    ::setenv(variable_.c_str(), value.c_str(), 1);
  }
  ~Environment() { ::unsetenv(variable_.c_str()); }
  Environment(const Environment&) = delete;

 private:
  std::string variable_;
};

}  // namespace minfer::test
