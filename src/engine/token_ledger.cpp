#include "engine/token_ledger.h"

#include <algorithm>

namespace minfer {

/// A rendering as one text; pieces may then be cut at any byte.
struct TokenLedger::Rendered {
  std::string text, trust;

  explicit Rendered(std::span<const chat::Piece> pieces) {
    for (const chat::Piece& piece : pieces) {
      text += piece.text;
      trust.append(piece.text.size(), piece.trusted ? 't' : 'u');
    }
  }

  std::vector<chat::Piece> slice(size_t begin, size_t end) const {
    std::vector<chat::Piece> pieces;
    while (begin < end) {
      const size_t change = std::min(trust.find_first_not_of(trust[begin], begin), end);
      pieces.push_back({text.substr(begin, change - begin), trust[begin] == 't'});
      begin = change;
    }
    return pieces;
  }
};

std::vector<Token> TokenLedger::encode(const Rendered& rendered, size_t begin, size_t end) const {
  return chat::encode(tokenizer_, rendered.slice(begin, end), /*add_bos=*/begin == 0);
}

/// A text as tokens, the first `used` of which were given.
struct TokenLedger::Spelling {
  std::vector<Token> ids;
  size_t used = 0;
  bool right = false;  ///< the tokens are read as the text
};

/// As many of `ids` as are read as the beginning of `text`, and the rest of it encoded. Those used never end
/// inside a character, nor go past a control token, which stands for no text. `before`: the tokens that
/// precede.
TokenLedger::Spelling TokenLedger::spell(std::span<const Token> before, std::span<const Token> ids,
                                         std::string_view text) const {
  Spelling spelling;
  StreamDecoder decoder(tokenizer_, false, before);
  size_t read = 0, whole = 0;
  for (size_t i = 0; i < ids.size() && !tokenizer_.is_control(ids[i]); ++i) {
    const std::string piece = decoder.push(ids[i]);
    if (!text.substr(read).starts_with(piece)) break;
    read += piece.size();
    if (!StreamDecoder(decoder).finish().empty()) continue;
    spelling.used = i + 1;
    whole = read;
  }
  spelling.ids.assign(ids.begin(), ids.begin() + std::ptrdiff_t(spelling.used));
  const std::vector<Token> rest =
      tokenizer_.encode(text.substr(whole), {.add_bos = false, .parse_special = false});
  spelling.ids.insert(spelling.ids.end(), rest.begin(), rest.end());
  // Some tokenizers put a space before each text, also before a rest.
  spelling.right = rest.empty() || !tokenizer_.strips_first_space();
  return spelling;
}

/// Whether the text from here on can be encoded without what precedes it. A tokenizer that puts a space
/// before each text does not where a special token begins it.
bool TokenLedger::starts_apart(const Rendered& rendered, size_t at) const {
  if (!tokenizer_.strips_first_space()) return true;
  const size_t end = rendered.trust.find_first_not_of(rendered.trust[at], at);
  const std::vector<Token> ids = encode(rendered, at, std::min(end, rendered.text.size()));
  return !ids.empty() && tokenizer_.is_special(ids.front());
}

/// If the rendering has both texts of the exchange at this place: how much of the answer. Templates may take
/// blanks away from its end; if they alter more of it, there is no such length.
std::optional<size_t> TokenLedger::answer_length(const Exchange& exchange, const Rendered& rendered,
                                                 size_t at) const {
  const size_t begin = at + exchange.text.size();
  // A prompt and no more asks for another answer: one without text is not there already.
  if (begin >= rendered.text.size()) return std::nullopt;
  if (rendered.text.compare(at, exchange.text.size(), exchange.text) != 0) return std::nullopt;
  // A role may be the template's word in a prompt and the message's in a history: what counts is the tokens.
  const bool same_trust = rendered.trust.compare(at, exchange.trust.size(), exchange.trust) == 0;
  if (!same_trust && encode(rendered, at, begin) != exchange.tokens) return std::nullopt;
  const std::string_view text = std::string_view(rendered.text).substr(begin);
  const std::string_view trust = std::string_view(rendered.trust).substr(begin);
  const auto [end, ignored] =
      std::mismatch(exchange.answer.begin(), exchange.answer.end(), text.begin(), text.end());
  const size_t length = size_t(end - exchange.answer.begin());
  const bool cut = exchange.answer.find_first_not_of(" \t\r\n", length) != std::string::npos;
  if (cut) return std::nullopt;
  // Text by the template may hold control tokens, which an answer never does: not in it, not across its end.
  const bool more = length < text.size();
  if (more && !starts_apart(rendered, begin + length)) return std::nullopt;
  if (length == 0) return length;
  const bool ends_in_template = more && trust[length - 1] == 't' && trust[length] == 't';
  const bool goes_on = more && length < exchange.answer.size() && trust[length] == 'u';
  if (ends_in_template || goes_on) return std::nullopt;
  if (trust.substr(0, length).find('t') != trust.npos) {
    const std::vector<Token> ids = encode(rendered, begin, begin + length);
    if (std::any_of(ids.begin(), ids.end(), [this](Token id) { return tokenizer_.is_control(id); }))
      return std::nullopt;
  }
  return length;
}

TokenLedger::Plan TokenLedger::plan(std::span<const chat::Piece> pieces) const {
  const Rendered rendered(pieces);
  Plan plan;
  size_t at = 0;
  for (const Exchange& exchange : exchanges_) {
    const std::optional<size_t> length = answer_length(exchange, rendered, at);
    if (!length) break;
    const Spelling answer =
        spell(exchange.tokens, exchange.answer_tokens, std::string_view(exchange.answer).substr(0, *length));
    if (!answer.right) break;
    plan.tokens.insert(plan.tokens.end(), exchange.tokens.begin(), exchange.tokens.end());
    plan.tokens.insert(plan.tokens.end(), answer.ids.begin(), answer.ids.end());
    at += exchange.text.size() + *length;
    ++plan.kept;
  }
  const std::vector<Token> rest = encode(rendered, at, rendered.text.size());
  plan.tokens.insert(plan.tokens.end(), rest.begin(), rest.end());
  plan.tail = rendered.text.substr(at);
  plan.trust = rendered.trust.substr(at);
  plan.tail_tokens = rest.size();
  return plan;
}

size_t TokenLedger::record(const Plan& plan, std::string_view answer, std::span<const Token> generated) {
  const Spelling spelling = spell(plan.tokens, generated, answer);
  exchanges_.resize(plan.kept);
  if (spelling.right)
    exchanges_.push_back({plan.tail,
                          plan.trust,
                          {plan.tokens.end() - std::ptrdiff_t(plan.tail_tokens), plan.tokens.end()},
                          std::string(answer),
                          spelling.ids});
  return spelling.used;
}

}  // namespace minfer
