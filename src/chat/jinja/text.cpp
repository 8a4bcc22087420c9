#include "chat/jinja/text.h"

#include <algorithm>
#include <cstring>

#include "chat/jinja/runtime.h"

namespace minfer::chat::jinja {
namespace {

bool is_continuation(char c) { return (uint8_t(c) & 0xC0) == 0x80; }

/// Below this length the plain search, which may compare the needle at every position, is fast enough.
constexpr size_t short_needle = 16;

}  // namespace

Str::Str(std::string text, bool is_trusted)
    : bytes(std::move(text)), trusted(is_trusted), length_(count_code_points(bytes)) {
  ascii = length_ == bytes.size();
}

Str::~Str() {
  if (owner) owner->release(charged);
}

TextBuilder::~TextBuilder() { runtime_.release(charged_); }

void TextBuilder::grow(size_t more) {
  if (more > runtime_.limits().text_bytes - std::min(runtime_.limits().text_bytes, bytes_.size()))
    runtime_.fail_limit(fmt::format("a text of more than {} bytes", runtime_.limits().text_bytes));
  runtime_.step(more / 32);
  runtime_.charge(more);
  charged_ += more;
}

void TextBuilder::mark(size_t added, bool trusted) {
  if (!runs_.empty() && runs_.back().trusted == trusted) {
    runs_.back().end += added;
    return;
  }
  runtime_.charge(sizeof(Str::Run));
  charged_ += sizeof(Str::Run);
  runs_.push_back({bytes_.size(), trusted});
}

void TextBuilder::append(std::string_view text, bool trusted) {
  if (text.empty()) return;
  grow(text.size());
  bytes_ += text;
  mark(text.size(), trusted);
}

void TextBuilder::append(const Str& str, size_t begin, size_t end) {
  for_each_run(str, begin, end, [&](size_t from, size_t to, bool trusted) {
    append(std::string_view(str.bytes).substr(from, to - from), trusted);
  });
}

void TextBuilder::repeat(const Str& str, int64_t times) {
  if (str.bytes.empty()) return;
  // Copies of short text are made in larger pieces.
  constexpr size_t piece_bytes = 4096;
  const int64_t copies = int64_t(std::max<size_t>(piece_bytes / str.bytes.size(), 1));
  if (str.runs.empty() && copies > 1 && times >= copies) {
    std::string piece;
    for (int64_t i = 0; i < copies; ++i) piece += str.bytes;
    for (; times >= copies; times -= copies) append(piece, str.trusted);
  }
  for (; times > 0; --times) {
    runtime_.step();
    append(str);
  }
}

StrPtr TextBuilder::finish(bool markup, Dict* parsed) {
  auto str = std::make_shared<Str>(std::move(bytes_), runs_.empty() || runs_.front().trusted);
  if (runs_.size() > 1) str->runs = std::move(runs_);
  str->markup = markup;
  str->parsed = parsed;
  str->owner = &runtime_;
  str->charged = charged_ + sizeof(Str);
  charged_ = 0;
  runtime_.charge(sizeof(Str));
  bytes_.clear();
  runs_.clear();
  return str;
}

char32_t code_point(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return char32_t(uint8_t(text[at + i])); };
  switch (char_bytes(text[at])) {
    case 1:
      return byte(0);
    case 2:
      return (byte(0) & 0x1F) << 6 | (byte(1) & 0x3F);
    case 3:
      return (byte(0) & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F);
    default:
      return (byte(0) & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F);
  }
}

void append_utf8(std::string& text, char32_t c) {
  const auto tail = [&](int shift) { text += char(0x80 | ((c >> shift) & 0x3F)); };
  if (c < 0x80) {
    text += char(c);
  } else if (c < 0x800) {
    text += char(0xC0 | c >> 6);
    tail(0);
  } else if (c < 0x10000) {
    text += char(0xE0 | c >> 12);
    tail(6);
    tail(0);
  } else {
    text += char(0xF0 | c >> 18);
    tail(12);
    tail(6);
    tail(0);
  }
}

size_t count_code_points(std::string_view text) {
  return text.size() - size_t(std::count_if(text.begin(), text.end(), is_continuation));
}

size_t skip_code_points(std::string_view text, size_t from, size_t index) {
  for (; index > 0 && from < text.size(); --index) from += char_bytes(text[from]);
  return from;
}

size_t previous_char(std::string_view text, size_t at) {
  do --at;
  while (at > 0 && is_continuation(text[at]));
  return at;
}

size_t find_text(std::string_view text, std::string_view needle, size_t from) {
  if (needle.size() <= short_needle) return text.find(needle, from);
  if (from > text.size()) return text.npos;
  // Linear for any needle, unlike std::string_view::find.
  const void* found = memmem(text.data() + from, text.size() - from, needle.data(), needle.size());
  return found ? size_t(static_cast<const char*>(found) - text.data()) : text.npos;
}

size_t rfind_text(std::string_view text, std::string_view needle) {
  if (needle.size() <= short_needle) return text.rfind(needle);
  const std::string mirrored_text(text.rbegin(), text.rend()), mirrored(needle.rbegin(), needle.rend());
  const size_t at = find_text(mirrored_text, mirrored);
  return at == text.npos ? at : text.size() - at - needle.size();
}

}  // namespace minfer::chat::jinja
