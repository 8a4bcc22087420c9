#pragma once
#include <doctest/doctest.h>

#include <cstddef>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace minfer::test {

/// All bytes of a file under tests/data; fails the test if it cannot be read.
inline std::vector<std::byte> read_data(const std::string& name) {
  std::ifstream in(std::string(MINFER_TEST_DATA_DIR) + "/" + name, std::ios::binary);
  REQUIRE_MESSAGE(in.good(), "cannot read tests/data/" << name);
  const std::vector<char> chars{std::istreambuf_iterator<char>(in), {}};
  std::vector<std::byte> bytes(chars.size());
  if (!chars.empty()) std::memcpy(bytes.data(), chars.data(), chars.size());
  return bytes;
}

}  // namespace minfer::test
