#include "base/sha256.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include "base/error.h"

namespace minfer {

struct Sha256::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  ~State() { EVP_MD_CTX_free(context); }
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
  // Fails only where the cryptography library was installed without SHA-256 or memory ran out.
  if (!state_->context || EVP_DigestInit_ex(state_->context, EVP_sha256(), nullptr) != 1)
    throw Error(ErrorCode::io, "cannot compute SHA-256: OpenSSL offers no such digest");
}

Sha256::~Sha256() = default;

void Sha256::update(std::span<const std::byte> bytes) {
  MINFER_CHECK(EVP_DigestUpdate(state_->context, bytes.data(), bytes.size()) == 1, "update before hex()");
}

std::string Sha256::hex() {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  MINFER_CHECK(EVP_DigestFinal_ex(state_->context, digest, &size) == 1, "hex() is called once");
  std::string text;
  for (unsigned int i = 0; i < size; ++i) text += fmt::format("{:02x}", digest[i]);
  return text;
}

std::string sha256_file(const std::string& path) {
  const auto fail = [&](const char* doing) {
    return Error(ErrorCode::io, fmt::format("{}: cannot {}: {}", path, doing, std::strerror(errno)));
  };
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
  if (!file) throw fail("open");
  Sha256 hash;
  std::vector<std::byte> piece(size_t(1) << 20);
  while (const size_t n = std::fread(piece.data(), 1, piece.size(), file.get()))
    hash.update({piece.data(), n});
  if (std::ferror(file.get())) throw fail("read");
  return hash.hex();
}

}  // namespace minfer
