#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gguf/gguf.h"

namespace minfer {

using Token = int32_t;

/// Bytes [begin, end) of a text.
struct TextRange {
  size_t begin, end;
};

/// Text to ids and back, as the model's own tokenizer does it. Immutable after load; safe from any thread.
class Tokenizer {
 public:
  /// Reads tokenizer.ggml.* of `file` and keeps it alive. Throws Error{bad_model} for a broken vocabulary and
  /// Error{unsupported} naming an unknown tokenizer model or pre-tokeniser.
  static std::shared_ptr<const Tokenizer> load(std::shared_ptr<const gguf::File> file);
  virtual ~Tokenizer() = default;

  struct EncodeOptions {
    bool add_bos = true;        ///< the vocabulary's leading token, if it asks for one and the text has none
    bool parse_special = true;  ///< control tokens in the text become their ids; false: they are plain text
    /// Where control tokens may stand: only inside one of these, in order and apart. Null: anywhere.
    const std::vector<TextRange>* trusted = nullptr;
    bool add_eos = false;  ///< the vocabulary's closing token, if it asks for one: not for a text to go on
  };
  /// Invalid UTF-8 in `text` is encoded byte by byte. Time is linear-ish, stack use constant, for any text.
  virtual std::vector<Token> encode(std::string_view text, EncodeOptions options) const = 0;

  /// The bytes of one token, not always whole characters; control tokens give their text only if `special`.
  /// Like everything that takes an id, throws Error{bad_request} for one outside the vocabulary.
  virtual std::string_view token_bytes(Token id, bool special) const = 0;
  /// Ids to text, what StreamDecoder gives in all: bytes that are no UTF-8 come out as U+FFFD.
  std::string decode(std::span<const Token> ids, bool special = true) const;

  virtual int32_t size() const = 0;                         ///< tokens in the vocabulary (not embedding rows)
  virtual std::string_view token_text(Token id) const = 0;  ///< as stored in the file
  virtual std::optional<Token> find(std::string_view text) const = 0;  ///< by stored text
  virtual std::optional<Token> bos() const = 0;
  virtual bool adds_bos() const = 0;
  virtual bool is_control(Token id) const = 0;
  /// Matched in the raw text as a whole: control, unknown and user-defined tokens. What follows one is
  /// encoded like the beginning of a text.
  virtual bool is_special(Token id) const = 0;
  /// Encoding puts a space before a text, and decoding takes one away from its beginning.
  virtual bool strips_first_space() const = 0;
  /// End of generation: eos, eot and the vocabulary's known end tokens by name, ascending.
  virtual const std::vector<Token>& end_tokens() const = 0;
  bool is_end(Token id) const;
};

/// Turns a stream of tokens into text, holding back bytes until a UTF-8 character is whole. Bytes that cannot
/// become one are replaced as soon as that is certain, one U+FFFD for each maximal subpart.
class StreamDecoder {
 public:
  /// `special`: control tokens give their text. By default they give none: a reader never sees them.
  /// `context`: what the stream goes on from. After text, a space at the beginning is a space between words
  /// and stays; otherwise it is the one that encoding adds (see strips_first_space) and is dropped.
  explicit StreamDecoder(const Tokenizer& tokenizer, bool special = false,
                         std::span<const Token> context = {});
  /// The text that became whole with this token; may be empty.
  std::string push(Token id);
  /// What is left at the end: bytes that never became a character come out as U+FFFD.
  std::string finish();

 private:
  const Tokenizer& tokenizer_;
  const bool special_;
  bool strip_space_;  ///< nothing came out yet, and a space would be one that encoding added
  std::string pending_;
};

}  // namespace minfer
