#pragma once
#include <optional>
#include <string>

#include "chat/jinja/value.h"

namespace minfer::chat::jinja::strings {

// Python's str methods, shared by methods and filters. All carry provenance along.

enum class Case { upper, lower, title, capitalize, swap, fold };
StrPtr change_case(Runtime& runtime, const Str& str, Case wanted);

enum Side { left = 1, right = 2, both = 3 };
/// Without the blanks, or the characters of `characters`, at its ends.
StrPtr strip(Runtime& runtime, const Str& str, const Str* characters, Side side);

/// Split at blanks (no separator) or at `separator`, at most `limit` times if that is not negative.
Items split(Runtime& runtime, const Str& str, const Str* separator, int64_t limit);
Items split_from_right(Runtime& runtime, const Str& str, const Str* separator, int64_t limit);
Items split_lines(Runtime& runtime, const Str& str, bool keep_ends);

/// All, or the first `limit`, occurrences of `from` as `to`. An empty `from` is found between all characters.
StrPtr replace(Runtime& runtime, const Str& str, const Str& from, const Str& to, int64_t limit);
StrPtr join(Runtime& runtime, const Str& separator, const Items& items);
/// Bytes [begin, end) as a string of their own.
StrPtr part(Runtime& runtime, const Str& str, size_t begin, size_t end);

/// Python's int(text, base) and float(text); nothing where they raise ValueError. Fails beyond 64 bits.
std::optional<int64_t> to_integer(const Runtime& runtime, std::string_view text, int64_t base);
std::optional<double> to_float(std::string_view text);

}  // namespace minfer::chat::jinja::strings
