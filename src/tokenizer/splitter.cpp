#include "tokenizer/splitter.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <fmt/format.h>
#include <pcre2.h>

#include <limits>

#include "base/error.h"

namespace minfer {
namespace {

template <auto free_function>
struct Free {
  template <class T>
  void operator()(T* pointer) const {
    free_function(pointer);
  }
};
using CodePtr = std::unique_ptr<pcre2_code, Free<pcre2_code_free>>;
using DataPtr = std::unique_ptr<pcre2_match_data, Free<pcre2_match_data_free>>;
using ContextPtr = std::unique_ptr<pcre2_match_context, Free<pcre2_match_context_free>>;

/// White_Space of the Unicode Character Database, PropList.txt. PCRE2's own \s differs: it still holds
/// U+180E, which lost the property in Unicode 6.3.
constexpr std::string_view white_space =
    R"(\x{09}-\x{0D}\x{20}\x{85}\x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000})";

/// Writes \s and \S out. Inside [ ] only \s occurs, and takes the ranges alone.
std::string with_white_space(std::string_view pattern) {
  std::string out;
  bool in_class = false;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c != '\\') {
      if (c == '[') in_class = true;
      if (c == ']') in_class = false;
      out += c;
      continue;
    }
    const char escaped = pattern[++i];
    if (escaped == 's') {
      out += in_class ? std::string(white_space) : fmt::format("[{}]", white_space);
    } else if (escaped == 'S') {
      MINFER_CHECK(!in_class, "a pre-tokeniser pattern has \\S inside a class");
      out += fmt::format("[^{}]", white_space);
    } else {
      out += {c, escaped};
    }
  }
  return out;
}

/// Steps and heap of one match grow with the text: a class run may be walked back once, no pattern here needs
/// more.
ContextPtr match_limits(size_t text_bytes) {
  ContextPtr context(pcre2_match_context_create(nullptr));
  if (!context) throw Error(ErrorCode::out_of_memory, "tokenize: no memory for a match context");
  constexpr size_t most = std::numeric_limits<uint32_t>::max();
  pcre2_set_match_limit(context.get(), uint32_t(std::min(most, 10'000 + 16 * text_bytes)));
  pcre2_set_heap_limit(context.get(), 64 * 1024);  // KiB
  return context;
}

[[noreturn]] void match_failed(int error, size_t at, size_t size) {
  PCRE2_UCHAR message[128] = {};
  pcre2_get_error_message(error, message, sizeof message);
  throw Error(ErrorCode::bad_request, fmt::format("tokenize: splitting failed at byte {} of {}: {}", at, size,
                                                  reinterpret_cast<const char*>(message)));
}

}  // namespace

struct Splitter::Code {
  CodePtr pattern;
};

Splitter::Splitter(std::string_view pattern) : code_(std::make_unique<Code>()) {
  const std::string source = with_white_space(pattern);
  int error = 0;
  PCRE2_SIZE offset = 0;
  code_->pattern.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(source.data()), source.size(),
                                     PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C, &error, &offset,
                                     nullptr));
  MINFER_CHECK(code_->pattern, "a pre-tokeniser pattern does not compile");
  // Where there is no JIT (a PCRE2 built without it, no right to executable memory) matching interprets.
  pcre2_jit_compile(code_->pattern.get(), PCRE2_JIT_COMPLETE);
}
Splitter::~Splitter() = default;
Splitter::Splitter(Splitter&&) noexcept = default;

void Splitter::split(std::string_view text, std::vector<std::string_view>& pieces) const {
  const DataPtr data(pcre2_match_data_create(1, nullptr));
  if (!data) throw Error(ErrorCode::out_of_memory, "tokenize: no memory for match data");
  const ContextPtr limits = match_limits(text.size());
  const auto match = [&](size_t from, uint32_t extra) {
    // The caller promises well-formed UTF-8; PCRE2's own check would read the whole text again for every
    // piece.
    return pcre2_match(code_->pattern.get(), reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), from,
                       PCRE2_NO_UTF_CHECK | PCRE2_NOTEMPTY | extra, data.get(), limits.get());
  };
  size_t from = 0;
  while (from < text.size()) {
    int found = match(from, 0);
    if (found == PCRE2_ERROR_JIT_STACKLIMIT)
      found = match(from, PCRE2_NO_JIT);  // keeps its frames on the heap
    if (found == PCRE2_ERROR_NOMATCH) break;
    if (found < 0) match_failed(found, from, text.size());
    const PCRE2_SIZE* span = pcre2_get_ovector_pointer(data.get());
    if (span[0] > from) pieces.push_back(text.substr(from, span[0] - from));
    pieces.push_back(text.substr(span[0], span[1] - span[0]));
    from = span[1];
  }
  if (from < text.size()) pieces.push_back(text.substr(from));
}

}  // namespace minfer
