#include "tokenizer/spm_tokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>

#include "base/error.h"

namespace minfer {
namespace {

constexpr std::string_view space_mark = "\xE2\x96\x81";  // U+2581

/// A space becomes U+2581.
void append_marked(std::string_view text, std::string& out) {
  for (const char c : text) {
    if (c == ' ')
      out += space_mark;
    else
      out += c;
  }
}

/// U+2581 becomes a space.
void append_unmarked(std::string_view text, std::string& out) {
  for (size_t from = 0;;) {
    const size_t mark = text.find(space_mark, from);
    out += text.substr(from, mark - from);
    if (mark == std::string_view::npos) return;
    out += ' ';
    from = mark + space_mark.size();
  }
}

/// The byte that a token like <0x0A> stands for.
std::optional<uint8_t> named_byte(std::string_view text) {
  if (text.size() != 6 || !text.starts_with("<0x") || text[5] != '>') return std::nullopt;
  unsigned value = 0;
  const char* end = text.data() + 5;
  const auto [last, error] = std::from_chars(text.data() + 3, end, value, 16);
  return error == std::errc() && last == end ? std::optional(uint8_t(value)) : std::nullopt;
}

/// Text normalisation that some SentencePiece models ask for and that is not written here.
void refuse_normalisation(const gguf::File& file) {
  const gguf::Value* map = file.find("tokenizer.ggml.precompiled_charsmap");
  if (map != nullptr && map->count > 0)
    throw Error(ErrorCode::unsupported,
                "tokenizer.ggml.precompiled_charsmap: normalisation by a table of "
                "characters is not supported for a SentencePiece BPE vocabulary");
  if (file.get_bool("tokenizer.ggml.remove_extra_whitespaces").value_or(false))
    throw Error(ErrorCode::unsupported,
                "tokenizer.ggml.remove_extra_whitespaces = true is not supported for a "
                "SentencePiece BPE vocabulary");
}

}  // namespace

SpmTokenizer::SpmTokenizer(std::shared_ptr<const gguf::File> file)
    : VocabularyTokenizer(std::move(file)),
      pieces_(vocabulary_),
      adds_space_(vocabulary_.file().get_bool("tokenizer.ggml.add_space_prefix").value_or(true)) {
  refuse_normalisation(vocabulary_.file());
  vocabulary_.set_adds_bos(true);
  map_bytes();
  set_bytes([this](Token id, std::string& bytes) {
    const std::string_view text = token_text(id);
    switch (vocabulary_.type(id)) {
      case TokenType::byte:
        bytes += char(*named_byte(text));
        break;
      case TokenType::control:
      case TokenType::unknown:
        bytes += text;
        break;
      default:
        append_unmarked(text, bytes);
    }
  });
}

void SpmTokenizer::map_bytes() {
  byte_ids_.fill(-1);
  for (Token id = 0; id < size(); ++id) {
    if (vocabulary_.type(id) == TokenType::unknown && !unknown_) unknown_ = id;
    if (vocabulary_.type(id) != TokenType::byte) continue;
    const auto byte = named_byte(token_text(id));
    if (!byte)
      throw Error(
          ErrorCode::bad_model,
          fmt::format("tokenizer.ggml.tokens[{}] = \"{}\" has the type of a byte; a text like <0x0A> is "
                      "expected",
                      id, token_text(id).substr(0, 80)));
    if (byte_ids_[*byte] < 0) byte_ids_[*byte] = id;
  }
}

/// The pieces of a text, and bytes for what is no piece.
class SpmTokenizer::Pieces final : public StretchEncoder {
 public:
  explicit Pieces(const SpmTokenizer& tokenizer) : t_(tokenizer), encoder_(tokenizer.pieces_) {}
  void encode(std::string_view text, Output& out) override;

 private:
  void append_unknown(std::string_view character, bool after_unknown, Output& out) const;

  const SpmTokenizer& t_;
  ScoredPairEncoder encoder_;
  std::string marked_;
  std::vector<ScoredPairEncoder::Part> parts_;
};

std::unique_ptr<VocabularyTokenizer::StretchEncoder> SpmTokenizer::stretch_encoder() const {
  return std::make_unique<Pieces>(*this);
}

void SpmTokenizer::Pieces::encode(std::string_view text, Output& out) {
  marked_.clear();
  if (t_.adds_space_) marked_ += space_mark;
  append_marked(text, marked_);
  parts_.clear();
  encoder_.encode(marked_, parts_);
  bool after_unknown = false;
  for (const auto& part : parts_) {
    if (part.id >= 0)
      out.ids.push_back(part.id);
    else
      append_unknown(part.text, after_unknown, out);
    after_unknown = part.id < 0;
  }
}

/// A run of unknown characters is one unknown token.
void SpmTokenizer::Pieces::append_unknown(std::string_view character, bool after_unknown, Output& out) const {
  const auto byte_id = [this](char byte) { return t_.byte_ids_[uint8_t(byte)]; };
  const bool has_bytes =
      std::all_of(character.begin(), character.end(), [&](char byte) { return byte_id(byte) >= 0; });
  if (has_bytes) {
    for (const char byte : character) out.ids.push_back(byte_id(byte));
  } else if (!t_.unknown_) {
    out.dropped += character.size();
  } else if (!after_unknown || out.ids.back() != *t_.unknown_) {
    out.ids.push_back(*t_.unknown_);
  }
}

}  // namespace minfer
