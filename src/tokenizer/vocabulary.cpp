#include "tokenizer/vocabulary.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>

#include "base/error.h"

namespace minfer {
namespace {

constexpr std::string_view prefix = "tokenizer.ggml.";

/// Texts that end a turn or a document in published vocabularies. Files often name only one of several.
constexpr std::string_view known_end_tokens[] = {
    "<|endoftext|>",    // GPT-2, Qwen, SmolLM
    "<|im_end|>",       // ChatML
    "<|end_of_text|>",  // Llama 3
    "<|eot_id|>",       // Llama 3, end of a turn
    "<|eom_id|>",       // Llama 3, end of a message that calls a tool
    "</s>",             // Llama 2, Mistral
    "<eos>",            // Gemma
    "<end_of_turn>",    // Gemma
    "<|end|>",          // Phi 3
    "<|return|>",       // gpt-oss
    "<|end_of_turn|>",  // several chat tunes of Llama 2
};

}  // namespace

Vocabulary::Vocabulary(std::shared_ptr<const gguf::File> file) : file_(std::move(file)) {
  auto texts = file_->get_strings("tokenizer.ggml.tokens");
  if (!texts || texts->empty())
    throw Error(ErrorCode::bad_model,
                "tokenizer.ggml.tokens is absent or empty; a list of tokens is expected");
  constexpr size_t most = size_t(std::numeric_limits<int32_t>::max());
  if (texts->size() > most)
    throw Error(
        ErrorCode::bad_model,
        fmt::format("tokenizer.ggml.tokens has {} tokens; at most {} are expected", texts->size(), most));
  texts_ = std::move(*texts);
  read_types();
  index_texts();
  check_role_ids();
  bos_ = role("bos_token_id");
  eos_ = role("eos_token_id");
  set_adds_eos();
  collect_end_tokens();
}

size_t Vocabulary::checked(Token id) const {
  if (id < 0 || id >= size())
    throw Error(ErrorCode::bad_request,
                fmt::format("token id {}; the vocabulary has 0 to {}", id, size() - 1));
  return size_t(id);
}

void Vocabulary::read_types() {
  const auto types = file_->get_ints("tokenizer.ggml.token_type");
  if (!types) return;
  if (types->size() != texts_.size())
    throw Error(ErrorCode::bad_model,
                fmt::format("tokenizer.ggml.token_type has {} values; {} are expected, one "
                            "for each token",
                            types->size(), texts_.size()));
  types_.reserve(types->size());
  for (const int64_t type : *types) {
    if (type < 0 || type > int64_t(TokenType::byte))
      throw Error(ErrorCode::bad_model,
                  fmt::format("tokenizer.ggml.token_type[{}] = {}; 0 to {} are expected", types_.size(), type,
                              int(TokenType::byte)));
    types_.push_back(TokenType(type));
  }
}

size_t Vocabulary::slot_of(std::string_view text, size_t hash) const {
  const size_t mask = slots_.size() - 1;
  size_t slot = hash & mask;
  while (slots_[slot].id >= 0 &&
         (slots_[slot].hash != uint32_t(hash >> 32) || texts_[size_t(slots_[slot].id)] != text))
    slot = (slot + 1) & mask;
  return slot;
}

void Vocabulary::index_texts() {
  slots_.resize(std::bit_ceil(texts_.size() + texts_.size() / 2 + 1));
  for (Token id = 0; id < size(); ++id) {
    const size_t hash = std::hash<std::string_view>{}(texts_[size_t(id)]);
    Slot& slot = slots_[slot_of(texts_[size_t(id)], hash)];
    if (slot.id < 0) slot = {uint32_t(hash >> 32), id};
  }
}

std::optional<Token> Vocabulary::find(std::string_view text, size_t hash) const {
  const Token id = slots_[slot_of(text, hash)].id;
  return id >= 0 ? std::optional(id) : std::nullopt;
}

std::optional<Token> Vocabulary::find(std::string_view text) const {
  return find(text, std::hash<std::string_view>{}(text));
}

size_t Vocabulary::prefetch(std::string_view text) const {
  const size_t hash = std::hash<std::string_view>{}(text);
  __builtin_prefetch(&slots_[hash & (slots_.size() - 1)]);
  return hash;
}

std::optional<Token> Vocabulary::role(std::string_view name) const {
  const auto id = file_->get_int(fmt::format("{}{}", prefix, name));
  return id ? std::optional(Token(*id)) : std::nullopt;
}

/// Every key that names a token, also those no code here uses: a file wrong in one of them is wrong.
void Vocabulary::check_role_ids() const {
  for (const auto& [key, value] : file_->metadata()) {
    if (!key.starts_with(prefix) || !key.ends_with("_token_id")) continue;
    const auto id = file_->get_int(key);
    if (*id < 0 || *id >= size())
      throw Error(ErrorCode::bad_model,
                  fmt::format("{} = {}; the vocabulary has 0 to {}", key, *id, size() - 1));
  }
}

void Vocabulary::set_adds_bos(bool by_default) {
  const auto stated = file_->get_bool("tokenizer.ggml.add_bos_token");
  adds_bos_ = stated.value_or(by_default);
  if (adds_bos_ && !bos_)
    throw Error(
        ErrorCode::bad_model,
        fmt::format("tokenizer.ggml.bos_token_id is absent; it is expected because {}",
                    stated ? "tokenizer.ggml.add_bos_token is true" : "this kind of tokenizer adds it"));
}

/// No kind of tokenizer ends a text with a token unless its file says so.
void Vocabulary::set_adds_eos() {
  adds_eos_ = file_->get_bool("tokenizer.ggml.add_eos_token").value_or(false);
  if (adds_eos_ && !eos_)
    throw Error(ErrorCode::bad_model,
                "tokenizer.ggml.eos_token_id is absent; it is expected because "
                "tokenizer.ggml.add_eos_token is true");
}

void Vocabulary::collect_end_tokens() {
  for (const std::string_view name : {"eos_token_id", "eot_token_id", "eom_token_id"})
    if (const auto id = role(name)) end_tokens_.push_back(*id);
  for (const std::string_view text : known_end_tokens) {
    const auto id = find(text);
    // A normal token of that text is text: "</s>" ends struck-out HTML in vocabularies that do not use it.
    if (id && (type(*id) == TokenType::control || type(*id) == TokenType::user_defined))
      end_tokens_.push_back(*id);
  }
  std::sort(end_tokens_.begin(), end_tokens_.end());
  end_tokens_.erase(std::unique(end_tokens_.begin(), end_tokens_.end()), end_tokens_.end());
}

}  // namespace minfer
