#include "tokenizer/vocabulary_tokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "base/log.h"

namespace minfer {

SpecialTokens VocabularyTokenizer::tokens_of(std::initializer_list<TokenType> types) const {
  std::vector<SpecialTokens::Entry> entries;
  for (Token id = 0; id < size(); ++id) {
    const bool wanted = std::find(types.begin(), types.end(), vocabulary_.type(id)) != types.end();
    if (wanted && !token_bytes(id, true).empty()) entries.push_back({token_bytes(id, true), id});
  }
  return SpecialTokens(std::move(entries));
}

bool VocabularyTokenizer::is_special(Token id) const {
  const TokenType type = vocabulary_.type(id);
  return type == TokenType::control || type == TokenType::user_defined || type == TokenType::unknown;
}

std::string_view VocabularyTokenizer::token_bytes(Token id, bool special) const {
  const size_t i = vocabulary_.checked(id);
  const TokenType type = vocabulary_.type(id);
  if (!special && (type == TokenType::control || type == TokenType::unknown)) return {};
  return std::string_view(bytes_).substr(offsets_[i], offsets_[i + 1] - offsets_[i]);
}

/// What control tokens are held to: their text must be trusted as a whole. User-defined ones match anywhere.
SpecialTokens::Accept VocabularyTokenizer::only_trusted(const std::vector<TextRange>* trusted) const {
  if (!trusted) return {};
  return [this, trusted](const SpecialTokens::Match& match) {
    if (vocabulary_.type(match.id) == TokenType::user_defined) return true;
    const auto range = std::partition_point(trusted->begin(), trusted->end(),
                                            [&](const TextRange& r) { return r.end <= match.begin; });
    return range != trusted->end() && range->begin <= match.begin && match.begin + match.length <= range->end;
  };
}

std::vector<Token> VocabularyTokenizer::encode(std::string_view text, EncodeOptions options) const {
  if (text.size() > size_t(std::numeric_limits<int32_t>::max()) / 4)
    throw Error(ErrorCode::bad_request,
                fmt::format("tokenize: the text has {} bytes; fewer than 2^29 are expected", text.size()));
  Output out;
  const auto encoder = stretch_encoder();
  const auto encode_stretch = [&](std::string_view stretch) {
    if (!stretch.empty()) encoder->encode(stretch, out);
  };
  // User-defined tokens (tool call tags and the like) are words of the vocabulary that happen to be added by
  // hand; they mark up a text and give no control over the conversation, so they match in any text.
  const SpecialTokens& specials = options.parse_special ? specials_ : user_defined_;
  const SpecialTokens::Accept accept = only_trusted(options.trusted);
  size_t from = 0;
  while (const auto match = specials.find(text, from, accept)) {
    encode_stretch(text.substr(from, match->begin - from));
    out.ids.push_back(match->id);
    from = match->begin + match->length;
  }
  encode_stretch(text.substr(from));
  if (out.dropped > 0)
    log(LogLevel::warning,
        "tokenize: the vocabulary has no tokens for {} bytes of the text; they were left out", out.dropped);
  // A rendered chat often begins with the token already; twice would be text no model was trained on.
  const bool leads = !out.ids.empty() && out.ids.front() == bos();
  if (options.add_bos && adds_bos() && !leads) out.ids.insert(out.ids.begin(), *bos());
  const bool ends = !out.ids.empty() && out.ids.back() == vocabulary_.eos();
  if (options.add_eos && vocabulary_.adds_eos() && !ends) out.ids.push_back(*vocabulary_.eos());
  return std::move(out.ids);
}

}  // namespace minfer
