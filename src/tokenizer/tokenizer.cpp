#include "tokenizer/tokenizer.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "tokenizer/bpe_tokenizer.h"
#include "tokenizer/spm_tokenizer.h"

namespace minfer {

std::shared_ptr<const Tokenizer> Tokenizer::load(std::shared_ptr<const gguf::File> file) {
  const auto model = file->get_string("tokenizer.ggml.model");
  if (!model)
    throw Error(ErrorCode::bad_model, "tokenizer.ggml.model is absent; the name of a tokenizer is expected",
                "the file holds no tokenizer: convert the model together with its tokenizer");
  if (*model == "gpt2") return std::make_shared<BpeTokenizer>(std::move(file));
  if (*model == "llama") return std::make_shared<SpmTokenizer>(std::move(file));
  throw Error(ErrorCode::unsupported,
              fmt::format("tokenizer.ggml.model = \"{}\"; known are gpt2 (byte-level BPE) and llama "
                          "(SentencePiece BPE)",
                          *model));
}

std::string Tokenizer::decode(std::span<const Token> ids, bool special) const {
  StreamDecoder decoder(*this, special);
  std::string text;
  for (const Token id : ids) text += decoder.push(id);
  return text + decoder.finish();
}

bool Tokenizer::is_end(Token id) const {
  return std::binary_search(end_tokens().begin(), end_tokens().end(), id);
}

}  // namespace minfer
