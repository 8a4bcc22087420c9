#include "tokenizer/bpe_tokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "base/log.h"
#include "tokenizer/byte_level.h"
#include "tokenizer/nfc.h"
#include "tokenizer/utf8.h"

namespace minfer {
namespace {

const PreTokenizer& named_pre_tokenizer(const gguf::File& file) {
  const auto name = file.get_string("tokenizer.ggml.pre");
  if (name) return pre_tokenizer(*name);
  throw Error(ErrorCode::bad_model,
              "tokenizer.ggml.pre is absent; a BPE vocabulary needs the name of its pre-tokeniser",
              "re-convert the model with a converter that writes tokenizer.ggml.pre");
}

std::vector<Splitter> compile(const PreTokenizer& pre_tokenizer) {
  std::vector<Splitter> splitters;
  for (const std::string_view pattern : pre_tokenizer.patterns)
    if (!pattern.empty()) splitters.emplace_back(pattern);
  return splitters;
}

SpecialTokens tokens_of_type(const Vocabulary& vocabulary, std::initializer_list<TokenType> types) {
  std::vector<SpecialTokens::Entry> entries;
  for (Token id = 0; id < vocabulary.size(); ++id) {
    const bool wanted = std::find(types.begin(), types.end(), vocabulary.type(id)) != types.end();
    if (wanted && !vocabulary.text(id).empty()) entries.push_back({vocabulary.text(id), id});
  }
  return SpecialTokens(std::move(entries));
}

bool is_verbatim(TokenType type) { return type == TokenType::control || type == TokenType::user_defined; }

}  // namespace

/// The output and the working memory of one call of encode.
struct BpeTokenizer::Work {
  explicit Work(const Merges& merges) : encoder(merges) {}
  std::vector<Token> ids;
  size_t dropped = 0;  ///< bytes the vocabulary has no token for
  BytePairEncoder encoder;
  std::vector<std::string_view> words, pieces;
  std::vector<Token> byte_ids;
  std::string scratch;
};

BpeTokenizer::BpeTokenizer(std::shared_ptr<const gguf::File> file)
    : vocabulary_(std::move(file)),
      pre_tokenizer_(named_pre_tokenizer(vocabulary_.file())),
      merges_(vocabulary_),
      splitters_(compile(pre_tokenizer_)),
      specials_(tokens_of_type(vocabulary_, {TokenType::control, TokenType::user_defined})),
      user_defined_(tokens_of_type(vocabulary_, {TokenType::user_defined})) {
  vocabulary_.set_adds_bos(pre_tokenizer_.add_bos);
  map_bytes();
}

void BpeTokenizer::map_bytes() {
  for (int byte = 0; byte < 256; ++byte)
    byte_ids_[size_t(byte)] = vocabulary_.find(byte_level::stand_in(uint8_t(byte))).value_or(-1);
  size_t total = 0;
  for (Token id = 0; id < size(); ++id) {
    total += token_text(id).size();
    longest_text_ = std::max(longest_text_, token_text(id).size());
  }
  bytes_.reserve(total);  // no token decodes to more bytes than its text has
  offsets_.reserve(size_t(size()) + 1);
  for (Token id = 0; id < size(); ++id) {
    offsets_.push_back(bytes_.size());
    const std::string_view text = token_text(id);
    // A text outside the byte alphabet was added to the vocabulary as it is.
    if (is_verbatim(vocabulary_.type(id)) || !byte_level::append_bytes(text, bytes_)) bytes_ += text;
  }
  offsets_.push_back(bytes_.size());
}

std::string_view BpeTokenizer::token_bytes(Token id, bool special) const {
  const size_t i = vocabulary_.checked(id);
  if (!special && is_control(id)) return {};
  return std::string_view(bytes_).substr(offsets_[i], offsets_[i + 1] - offsets_[i]);
}

std::vector<Token> BpeTokenizer::encode(std::string_view text, EncodeOptions options) const {
  if (text.size() > size_t(std::numeric_limits<int32_t>::max()))
    throw Error(ErrorCode::bad_request,
                fmt::format("tokenize: the text has {} bytes; fewer than 2^31 are expected", text.size()));
  Work work(merges_);
  // User-defined tokens (tool call tags and the like) are words of the vocabulary that happen to be added by
  // hand; they mark up a text and give no control over the conversation, so they match in any text.
  const SpecialTokens& specials = options.parse_special ? specials_ : user_defined_;
  size_t from = 0;
  while (const auto match = specials.find(text, from)) {
    encode_plain(text.substr(from, match->begin - from), work);
    work.ids.push_back(match->id);
    from = match->begin + match->length;
  }
  encode_plain(text.substr(from), work);
  if (work.dropped > 0)
    log(LogLevel::warning,
        "tokenize: the vocabulary has no tokens for {} bytes of the text; they were left out", work.dropped);
  // A rendered chat often begins with the token already; twice would be text no model was trained on.
  const bool leads = !work.ids.empty() && work.ids.front() == bos();
  if (options.add_bos && adds_bos() && !leads) work.ids.insert(work.ids.begin(), *bos());
  return std::move(work.ids);
}

/// Text without special tokens: stretches of well-formed UTF-8 as words, other bytes one by one.
void BpeTokenizer::encode_plain(std::string_view text, Work& work) const {
  while (!text.empty()) {
    const size_t valid = utf8::valid_prefix(text);
    if (valid > 0) {
      const std::string_view stretch = text.substr(0, valid);
      if (pre_tokenizer_.nfc) {
        encode_words(nfc(stretch), work);
      } else {
        encode_words(stretch, work);
      }
    }
    if (valid == text.size()) return;
    const size_t broken = utf8::next(text.substr(valid)).length;
    for (const char byte : text.substr(valid, broken)) encode_word({&byte, 1}, work);
    text.remove_prefix(valid + broken);
  }
}

void BpeTokenizer::encode_words(std::string_view text, Work& work) const {
  work.words.assign(1, text);
  for (const Splitter& splitter : splitters_) {
    work.pieces.clear();
    for (const std::string_view word : work.words) splitter.split(word, work.pieces);
    work.words.swap(work.pieces);
  }
  for (const std::string_view word : work.words) encode_word(word, work);
}

/// The token whose bytes are `word`. Only normal tokens: text must never turn into a control token by its
/// spelling.
std::optional<Token> BpeTokenizer::whole_word(std::string_view word, std::string& scratch) const {
  if (word.size() > longest_text_) return std::nullopt;
  scratch.clear();
  for (const char byte : word) scratch += byte_level::stand_in(uint8_t(byte));
  const auto id = vocabulary_.find(scratch);
  return id && vocabulary_.type(*id) == TokenType::normal ? id : std::nullopt;
}

void BpeTokenizer::encode_word(std::string_view word, Work& work) const {
  if (pre_tokenizer_.ignore_merges) {
    if (const auto id = whole_word(word, work.scratch)) {
      work.ids.push_back(*id);
      return;
    }
  }
  work.byte_ids.clear();
  for (const char byte : word) {
    const Token id = byte_ids_[uint8_t(byte)];
    // A byte that never occurred in training may have no token; the tokenizers these files come from omit it.
    if (id < 0)
      ++work.dropped;
    else
      work.byte_ids.push_back(id);
  }
  work.encoder.encode(work.byte_ids, work.ids);
}

}  // namespace minfer
