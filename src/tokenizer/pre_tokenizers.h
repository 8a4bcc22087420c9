#pragma once
#include <span>
#include <string_view>

namespace minfer {

/// How a kind of byte-level BPE tokenizer cuts text into words before merging. GGUF names it in
/// `tokenizer.ggml.pre` and does not describe it.
struct PreTokenizer {
  std::string_view name;
  /// Applied one after the other, each to the pieces of the one before; an empty one is unused.
  std::string_view patterns[3];
  bool nfc;            ///< text is put in Unicode Normalization Form C first
  bool ignore_merges;  ///< a word that is itself a token becomes that token, whatever the merges say
  bool add_bos;        ///< where the file does not say
};

/// Throws Error{unsupported} naming `name` and listing the known ones.
const PreTokenizer& pre_tokenizer(std::string_view name);
std::span<const PreTokenizer> pre_tokenizers();

}  // namespace minfer
