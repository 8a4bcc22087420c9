#include "tokenizer/bpe.h"

namespace minfer {

void BytePairEncoder::encode(std::span<const Token> bytes, std::vector<Token>& out) {
  if (bytes.empty()) return;
  merger_.start(bytes.size());
  for (size_t i = 0; i < bytes.size(); ++i) merger_[int32_t(i)].id = bytes[i];
  merger_.merge(
      [this](int32_t left, int32_t right) { return merges_.find(merger_[left].id, merger_[right].id); });
  for (int32_t i = 0; i >= 0; i = merger_[i].next) out.push_back(merger_[i].id);
}

}  // namespace minfer
