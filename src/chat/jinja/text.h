#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace minfer::chat::jinja {

class Runtime;
struct Dict;

/// A string of the template language: well-formed UTF-8, immutable, and aware of who wrote each of its bytes.
///
/// Text is trusted if the template or the vocabulary wrote it, and untrusted if it came with a message. Every
/// operation carries this along byte by byte, so that control tokens can be looked for in trusted text only.
struct Str {
  struct Run {
    size_t end;
    bool trusted;
  };

  explicit Str(std::string text, bool is_trusted = true);
  Str(const Str&) = delete;
  Str& operator=(const Str&) = delete;
  ~Str();

  std::string bytes;
  std::vector<Run> runs;  ///< in order, neighbours differ; empty: all bytes are `trusted`
  bool trusted = true;
  bool ascii = true;
  bool markup = false;  ///< went through `safe` or `escape`: `+`, `%` and format escape what is added to it
  /// The value of a JSON text, where a message holds one in place of an object (arguments of a tool call): it
  /// prints as the text that it is, and `tojson`, `items` and subscripts see the object.
  Dict* parsed = nullptr;

  size_t length() const;  ///< in code points

  Runtime* owner = nullptr;  ///< whose memory it counts in
  size_t charged = 0;
};
using StrPtr = std::shared_ptr<const Str>;

/// Calls `visit(begin, end, trusted)` for each stretch of one provenance in [begin, end).
template <class Visit>
void for_each_run(const Str& str, size_t begin, size_t end, Visit visit) {
  if (begin >= end) return;
  if (str.runs.empty()) return visit(begin, end, str.trusted);
  size_t start = 0;
  for (const Str::Run& run : str.runs) {
    const size_t from = std::max(start, begin), to = std::min(run.end, end);
    if (from < to) visit(from, to, run.trusted);
    start = run.end;
    if (start >= end) return;
  }
}

/// Builds a string piece by piece, within the runtime's limits.
class TextBuilder {
 public:
  explicit TextBuilder(Runtime& runtime) : runtime_(runtime) {}
  TextBuilder(const TextBuilder&) = delete;
  TextBuilder& operator=(const TextBuilder&) = delete;
  ~TextBuilder();

  void append(std::string_view text, bool trusted);
  void append(const Str& str) { append(str, 0, str.bytes.size()); }
  void append(const Str& str, size_t begin, size_t end);  ///< bytes [begin, end)
  void repeat(const Str& str, int64_t times);             ///< `times` <= 0: nothing
  size_t size() const { return bytes_.size(); }
  bool empty() const { return bytes_.empty(); }
  /// What was built, which leaves the builder empty. For `markup` and `parsed` see Str.
  StrPtr finish(bool markup = false, Dict* parsed = nullptr);

 private:
  void grow(size_t more);
  void mark(size_t added, bool trusted);

  Runtime& runtime_;
  std::string bytes_;
  std::vector<Str::Run> runs_;
  size_t charged_ = 0;
};

// UTF-8. Every string here is well-formed, so stepping needs no checks.

/// Bytes of the character that starts with `lead`.
inline size_t char_bytes(char lead) {
  const uint8_t byte = uint8_t(lead);
  return byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}
char32_t code_point(std::string_view text, size_t at);
void append_utf8(std::string& text, char32_t c);
size_t count_code_points(std::string_view text);
/// Byte offset of code point `index`, from byte `from`; the end if there are fewer.
size_t skip_code_points(std::string_view text, size_t from, size_t index);
/// Byte offset of the character before `at`.
size_t previous_char(std::string_view text, size_t at);

/// Where `needle` first occurs at or after `from`, npos if nowhere. Linear time for any text and needle.
size_t find_text(std::string_view text, std::string_view needle, size_t from = 0);
/// Where it last occurs at or before the end.
size_t rfind_text(std::string_view text, std::string_view needle);

}  // namespace minfer::chat::jinja
