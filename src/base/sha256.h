#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace minfer {

/// SHA-256 of bytes that arrive in pieces.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  void update(std::span<const std::byte> bytes);
  /// The digest as 64 lower-case hex digits. Ends the computation: call once.
  std::string hex();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// SHA-256 of a file's content, read in pieces of 1 MiB. Throws Error{io} naming the path.
std::string sha256_file(const std::string& path);

}  // namespace minfer
