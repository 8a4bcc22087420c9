#pragma once
#include <chrono>
#include <map>
#include <string>

namespace minfer::metal {

/// MINFER_OP_PROFILE=1: what encoding each kernel cost the host and how long the device ran. The first
/// submission prints its twenty dearest kernels, later ones a line; the end prints a table.
class OpProfile {
 public:
  ~OpProfile();
  void encoded(const std::string& kernel, std::chrono::nanoseconds host);
  void submitted(double gpu_seconds);

 private:
  struct Cost {
    int64_t calls = 0;
    std::chrono::nanoseconds host{0};
  };
  void print(size_t most) const;

  std::map<std::string, Cost> costs_;
  int64_t submissions_ = 0;
  double gpu_seconds_ = 0;
};

}  // namespace minfer::metal
