#include "base/error.h"
#include "tokenizer/tokenizer.h"
#include "tokenizer/utf8.h"

namespace minfer {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";  // U+FFFD

}  // namespace

StreamDecoder::StreamDecoder(const Tokenizer& tokenizer, bool special, std::span<const Token> context)
    : tokenizer_(tokenizer),
      special_(special),
      strip_space_(tokenizer.strips_first_space() &&
                   (context.empty() || tokenizer.is_special(context.back()))) {}

std::string StreamDecoder::push(Token id) {
  std::string_view bytes = tokenizer_.token_bytes(id, special_);
  if (strip_space_ && !bytes.empty()) {
    if (bytes.front() == ' ') bytes.remove_prefix(1);
    strip_space_ = false;
  }
  pending_ += bytes;
  std::string text;
  std::string_view rest = pending_;
  while (!rest.empty()) {
    const utf8::Step step = utf8::next(rest);
    if (step.kind == utf8::Kind::incomplete) break;
    text += step.kind == utf8::Kind::character ? rest.substr(0, step.length) : replacement;
    rest.remove_prefix(step.length);
  }
  pending_.erase(0, pending_.size() - rest.size());
  return text;
}

std::string StreamDecoder::finish() {
  // Only the beginning of one character can be left: one maximal subpart, one U+FFFD.
  const bool left_over = !pending_.empty();
  pending_.clear();
  return std::string(left_over ? replacement : "");
}

}  // namespace minfer
