#include "tokenizer/bpe_tokenizer.h"

#include <future>

#include "base/error.h"
#include "tokenizer/bpe.h"
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

bool is_verbatim(TokenType type) { return type == TokenType::control || type == TokenType::user_defined; }

}  // namespace

BpeTokenizer::BpeTokenizer(std::shared_ptr<const gguf::File> file)
    : VocabularyTokenizer(std::move(file)),
      pre_tokenizer_(named_pre_tokenizer(vocabulary_.file())),
      merges_(load_tables()),
      splitters_(compile(pre_tokenizer_)) {
  vocabulary_.set_adds_bos(pre_tokenizer_.add_bos);
  for (int byte = 0; byte < 256; ++byte)
    byte_ids_[size_t(byte)] = vocabulary_.find(byte_level::stand_in(uint8_t(byte))).value_or(-1);
}

/// The bytes of the tokens are found beside the merge rules, on another core if there is one.
Merges BpeTokenizer::load_tables() {
  const auto find_bytes = [this] {
    set_bytes([this](Token id, std::string& bytes) {
      const std::string_view text = token_text(id);
      // A text outside the byte alphabet was added to the vocabulary as it is.
      if (is_verbatim(vocabulary_.type(id)) || !byte_level::append_bytes(text, bytes)) bytes += text;
    });
  };
  std::future<void> bytes = std::async(std::launch::async | std::launch::deferred, find_bytes);
  Merges merges(vocabulary_);
  bytes.get();
  return merges;
}

/// The words of a text, encoded one by one.
class BpeTokenizer::Words final : public StretchEncoder {
 public:
  explicit Words(const BpeTokenizer& tokenizer) : t_(tokenizer), encoder_(tokenizer.merges_) {}
  void encode(std::string_view text, Output& out) override;

 private:
  void encode_valid(std::string_view text, Output& out);
  void encode_word(std::string_view word, Output& out);
  std::optional<Token> whole_word(std::string_view word);

  const BpeTokenizer& t_;
  BytePairEncoder encoder_;
  std::vector<std::string_view> words_, pieces_;
  std::vector<Token> byte_ids_;
  std::string scratch_;
};

std::unique_ptr<VocabularyTokenizer::StretchEncoder> BpeTokenizer::stretch_encoder() const {
  return std::make_unique<Words>(*this);
}

/// Stretches of well-formed UTF-8 as words, other bytes one by one.
void BpeTokenizer::Words::encode(std::string_view text, Output& out) {
  while (!text.empty()) {
    const size_t valid = utf8::valid_prefix(text);
    if (valid > 0) {
      const std::string_view stretch = text.substr(0, valid);
      if (t_.pre_tokenizer_.nfc) {
        encode_valid(nfc(stretch), out);
      } else {
        encode_valid(stretch, out);
      }
    }
    if (valid == text.size()) return;
    const size_t broken = utf8::next(text.substr(valid)).length;
    for (const char byte : text.substr(valid, broken)) encode_word({&byte, 1}, out);
    text.remove_prefix(valid + broken);
  }
}

void BpeTokenizer::Words::encode_valid(std::string_view text, Output& out) {
  words_.assign(1, text);
  for (const Splitter& splitter : t_.splitters_) {
    pieces_.clear();
    for (const std::string_view word : words_) splitter.split(word, pieces_);
    words_.swap(pieces_);
  }
  for (const std::string_view word : words_) encode_word(word, out);
}

/// The token whose bytes are `word`. Only normal tokens: text must never turn into a control token by its
/// spelling.
std::optional<Token> BpeTokenizer::Words::whole_word(std::string_view word) {
  if (word.size() > t_.longest_text()) return std::nullopt;
  scratch_.clear();
  for (const char byte : word) scratch_ += byte_level::stand_in(uint8_t(byte));
  const auto id = t_.vocabulary_.find(scratch_);
  return id && t_.vocabulary_.type(*id) == TokenType::normal ? id : std::nullopt;
}

void BpeTokenizer::Words::encode_word(std::string_view word, Output& out) {
  if (t_.pre_tokenizer_.ignore_merges) {
    if (const auto id = whole_word(word)) {
      out.ids.push_back(*id);
      return;
    }
  }
  byte_ids_.clear();
  for (const char byte : word) {
    const Token id = t_.byte_ids_[uint8_t(byte)];
    // A byte that never occurred in training may have no token; the tokenizers these files come from omit it.
    if (id < 0)
      ++out.dropped;
    else
      byte_ids_.push_back(id);
  }
  encoder_.encode(byte_ids_, out.ids);
}

}  // namespace minfer
