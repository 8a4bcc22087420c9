#pragma once
#include <string>

namespace minfer {

/// SHA-256 of a file's bytes as 64 lower-case hex digits. Throws Error{io} if it cannot be read.
std::string sha256_file(const std::string& path);

}  // namespace minfer
