#include "base/sha256.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "base/error.h"

namespace minfer {

std::string sha256_file(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  if (!file) throw Error(ErrorCode::io, fmt::format("{}: cannot be opened: {}", path, std::strerror(errno)));
  const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> digest(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  MINFER_CHECK(digest && EVP_DigestInit_ex(digest.get(), EVP_sha256(), nullptr) == 1,
               "SHA-256 is part of every OpenSSL");
  std::vector<unsigned char> block(size_t(1) << 20);
  while (const size_t got = std::fread(block.data(), 1, block.size(), file.get()))
    EVP_DigestUpdate(digest.get(), block.data(), got);
  if (std::ferror(file.get()))
    throw Error(ErrorCode::io, fmt::format("{}: cannot be read: {}", path, std::strerror(errno)));
  std::array<unsigned char, 32> bytes{};
  EVP_DigestFinal_ex(digest.get(), bytes.data(), nullptr);
  std::string hex;
  for (unsigned char byte : bytes) hex += fmt::format("{:02x}", byte);
  return hex;
}

}  // namespace minfer
