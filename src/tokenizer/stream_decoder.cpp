#include "base/error.h"
#include "tokenizer/tokenizer.h"
#include "tokenizer/utf8.h"

namespace minfer {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";  // U+FFFD

}  // namespace

std::string StreamDecoder::push(Token id) {
  pending_ += tokenizer_.token_bytes(id, special_);
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
