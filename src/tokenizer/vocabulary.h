#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/tokenizer.h"

namespace minfer {

/// What a token is for, numbered as in `tokenizer.ggml.token_type`.
enum class TokenType : uint8_t { undefined, normal, unknown, control, user_defined, unused, byte };

/// The token list of a file and the roles its metadata gives to some of them. Checked: every id it holds is
/// in range. Views point into the file, which it keeps alive.
class Vocabulary {
 public:
  /// Throws Error{bad_model} naming key, value found and value expected.
  explicit Vocabulary(std::shared_ptr<const gguf::File> file);

  int32_t size() const { return int32_t(texts_.size()); }
  std::string_view text(Token id) const { return texts_[checked(id)]; }
  TokenType type(Token id) const { return types_.empty() ? TokenType::normal : types_[checked(id)]; }
  /// The lowest id with this text.
  std::optional<Token> find(std::string_view text) const;
  /// The same in two steps, so that many look-ups can wait for memory together: the hash, which `find` takes.
  size_t prefetch(std::string_view text) const;
  std::optional<Token> find(std::string_view text, size_t hash) const;
  /// `id` as an index. Throws Error{bad_request} if it is outside the vocabulary.
  size_t checked(Token id) const;

  bool has_types() const { return !types_.empty(); }  ///< whether the file says what each token is for

  std::optional<Token> bos() const { return bos_; }
  std::optional<Token> eos() const { return eos_; }
  bool adds_bos() const { return adds_bos_; }
  bool adds_eos() const { return adds_eos_; }
  /// `by_default` is what the tokenizer's kind does where the file does not say.
  void set_adds_bos(bool by_default);
  const std::vector<Token>& end_tokens() const { return end_tokens_; }
  const gguf::File& file() const { return *file_; }

 private:
  /// The slot that holds `text`, or the empty one where it would be.
  size_t slot_of(std::string_view text, size_t hash) const;
  void read_types();
  void index_texts();
  void check_role_ids() const;
  std::optional<Token> role(std::string_view name) const;
  void set_adds_eos();
  void collect_end_tokens();

  std::shared_ptr<const gguf::File> file_;
  std::vector<std::string_view> texts_;
  std::vector<TokenType> types_;  ///< empty: all normal
  /// Open addressing by text; a power of two, under 2/3 full. The hash spares most looks at other tokens'
  /// texts.
  struct Slot {
    uint32_t hash;
    Token id = -1;
  };
  std::vector<Slot> slots_;
  std::optional<Token> bos_, eos_;
  bool adds_bos_ = false, adds_eos_ = false;
  std::vector<Token> end_tokens_;
};

}  // namespace minfer
