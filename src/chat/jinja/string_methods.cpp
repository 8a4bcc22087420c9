// The methods of strings, as Python has them.
#include <algorithm>
#include <array>

#include "chat/jinja/builtins.h"
#include "chat/jinja/format.h"
#include "chat/jinja/iterate.h"
#include "chat/jinja/method_tables.h"
#include "chat/jinja/operators.h"
#include "chat/jinja/print.h"
#include "chat/jinja/runtime.h"
#include "chat/jinja/strings.h"
#include "chat/jinja/unicode.h"

namespace minfer::chat::jinja {
namespace {

using strings::Case;
using strings::Side;

template <Case wanted>
Value change_case(Runtime& runtime, const Value& self, const Arguments& arguments) {
  Parameters(runtime, "str method", arguments, {});
  return strings::change_case(runtime, self.str(), wanted);
}

template <Side side>
Value strip(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const Parameters parameters(runtime, "strip", arguments, {"chars"});
  return strings::strip(runtime, self.str(), parameters.has(0) ? &parameters.string(0) : nullptr, side);
}

template <bool from_right>
Value split(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const Parameters parameters(runtime, "split", arguments, {"sep", "maxsplit"});
  const Str* separator = parameters.has(0) ? &parameters.string(0) : nullptr;
  const int64_t limit = parameters.integer(1, -1);
  return runtime.list(from_right ? strings::split_from_right(runtime, self.str(), separator, limit)
                                 : strings::split(runtime, self.str(), separator, limit));
}

Value splitlines(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const Parameters parameters(runtime, "splitlines", arguments, {"keepends"});
  return runtime.list(strings::split_lines(runtime, self.str(), parameters.boolean(0, false)));
}

template <bool from_right>
Value partition(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const Parameters parameters(runtime, "partition", arguments, {"sep"}, 1);
  const Str &text = self.str(), &separator = parameters.string(0);
  if (separator.bytes.empty()) runtime.fail("empty separator");
  runtime.step(text.bytes.size() / 32);
  const size_t at =
      from_right ? rfind_text(text.bytes, separator.bytes) : find_text(text.bytes, separator.bytes);
  const Value nothing = runtime.text("");
  if (at == std::string::npos)
    return from_right ? runtime.tuple({nothing, nothing, self}) : runtime.tuple({self, nothing, nothing});
  const size_t after = at + separator.bytes.size();
  return runtime.tuple({strings::part(runtime, text, 0, at), strings::part(runtime, text, at, after),
                        strings::part(runtime, text, after, text.bytes.size())});
}

Value replace(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const Parameters parameters(runtime, "replace", arguments, {"old", "new", "count"}, 2);
  const int64_t limit = parameters.integer(2, -1);
  return strings::replace(runtime, self.str(), parameters.string(0), parameters.string(1), limit);
}

Value join(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const Parameters parameters(runtime, "join", arguments, {"iterable"}, 1);
  const Items items = items_of(runtime, *parameters[0]);
  for (size_t i = 0; i < items.size(); ++i)
    if (!items[i].is_string())
      runtime.fail(fmt::format("sequence item {}: expected str instance, {} found", i, type_name(items[i])));
  return strings::join(runtime, self.str(), items);
}

/// The part of a text that the arguments `start` and `end` of startswith, find and so on leave, in bytes.
struct Window {
  size_t begin, end;
  bool valid;  ///< false: it starts behind the end
};

Window window(Runtime& runtime, const Parameters& parameters, const Str& text) {
  if (!parameters.has(1) && !parameters.has(2)) return {0, text.bytes.size(), true};
  const int64_t length = int64_t(text.length());
  const auto adjusted = [&](int64_t index) {
    return index < 0 ? std::max<int64_t>(0, index + length) : index;
  };
  const int64_t start = adjusted(parameters.has(1) ? parameters.integer(1, 0) : 0);
  const int64_t end = std::min(length, adjusted(parameters.has(2) ? parameters.integer(2, length) : length));
  if (start > end || start > length) return {0, 0, false};
  if (text.ascii) return {size_t(start), size_t(end), true};
  runtime.step(text.bytes.size() / 32);
  return {skip_code_points(text.bytes, 0, size_t(start)), skip_code_points(text.bytes, 0, size_t(end)), true};
}

template <bool at_start>
Value has_affix(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const std::string_view name = at_start ? "startswith" : "endswith";
  const Parameters parameters(runtime, name, arguments, {"prefix", "start", "end"}, 1);
  const Window in = window(runtime, parameters, self.str());
  const auto matches = [&](const Value& affix) {
    if (!affix.is_string())
      runtime.fail(fmt::format("{} first arg must be str or a tuple of str, not {}", name, type_name(affix)));
    runtime.step(affix.str().bytes.size() / 32);
    const std::string_view text = std::string_view(self.str().bytes).substr(in.begin, in.end - in.begin);
    return in.valid && (at_start ? text.starts_with(affix.str().bytes) : text.ends_with(affix.str().bytes));
  };
  const auto* tuple = parameters[0]->as<List>();
  if (!tuple || tuple->type != ObjectType::tuple) return matches(*parameters[0]);
  for (const Value& affix : tuple->items)
    if (matches(affix)) return true;
  return false;
}

template <bool from_right, bool must_exist>
Value find(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const Parameters parameters(runtime, "find", arguments, {"sub", "start", "end"}, 1);
  const Str& text = self.str();
  const Window in = window(runtime, parameters, text);
  runtime.step(text.bytes.size() / 32);
  size_t at = std::string::npos;
  if (in.valid) {
    const std::string_view part = std::string_view(text.bytes).substr(in.begin, in.end - in.begin);
    at = from_right ? rfind_text(part, parameters.string(0).bytes)
                    : find_text(part, parameters.string(0).bytes);
  }
  if (at == std::string::npos) {
    if (must_exist) runtime.fail("substring not found");
    return int64_t(-1);
  }
  return int64_t(count_code_points(std::string_view(text.bytes).substr(0, in.begin + at)));
}

Value count(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const Parameters parameters(runtime, "count", arguments, {"sub", "start", "end"}, 1);
  const Str &text = self.str(), &wanted = parameters.string(0);
  const Window in = window(runtime, parameters, text);
  if (!in.valid) return int64_t(0);
  const std::string_view part = std::string_view(text.bytes).substr(in.begin, in.end - in.begin);
  runtime.step(part.size() / 32);
  if (wanted.bytes.empty()) return int64_t(count_code_points(part)) + 1;
  int64_t found = 0;
  for (size_t at = 0; (at = find_text(part, wanted.bytes, at)) != part.npos; at += wanted.bytes.size()) {
    runtime.step();
    ++found;
  }
  return found;
}

template <bool at_start>
Value remove_affix(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const Parameters parameters(runtime, at_start ? "removeprefix" : "removesuffix", arguments, {"affix"}, 1);
  const std::string &text = self.str().bytes, &affix = parameters.string(0).bytes;
  if (at_start ? !text.starts_with(affix) : !text.ends_with(affix)) return self;
  return at_start ? strings::part(runtime, self.str(), affix.size(), text.size())
                  : strings::part(runtime, self.str(), 0, text.size() - affix.size());
}

template <char align>
Value pad(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const Parameters parameters(runtime, "str method", arguments, {"width", "fillchar"}, 1);
  const std::string fill = parameters[1] ? parameters.string(1).bytes : " ";
  if (count_code_points(fill) != 1) runtime.fail("The fill character must be exactly one character long");
  const int64_t width = parameters.integer(0, 0), length = int64_t(self.str().length());
  TextBuilder out(runtime);
  if (align == '^' && width > length) {
    // Unlike format(), center puts the odd blank to the left where the width is odd.
    const Str filler{fill};
    const int64_t missing = width - length, before = missing / 2 + (missing & width & 1);
    out.repeat(filler, before);
    out.append(self.str());
    out.repeat(filler, missing - before);
  } else {
    append_padded(out, self.str(), width, align, fill);
  }
  return out.finish(self.str().markup);
}

Value zfill(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const Parameters parameters(runtime, "zfill", arguments, {"width"}, 1);
  TextBuilder out(runtime);
  const bool blank_first = self.str().bytes.starts_with(' ');  // a blank is no sign here
  append_padded(out, self.str(), parameters.integer(0, 0), blank_first ? '>' : '=', "0");
  return out.finish(self.str().markup);
}

Value expandtabs(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const Parameters parameters(runtime, "expandtabs", arguments, {"tabsize"});
  const int64_t tab = parameters.integer(0, 8);
  const Str& str = self.str();
  TextBuilder out(runtime);
  int64_t column = 0;
  for (size_t at = 0; at < str.bytes.size(); at += char_bytes(str.bytes[at])) {
    runtime.step();
    const char c = str.bytes[at];
    if (c == '\t') {
      const int64_t blanks = tab > 0 ? tab - column % tab : 0;
      out.repeat(Str(" "), blanks);
      column += blanks;
      continue;
    }
    out.append(str, at, at + char_bytes(c));
    column = c == '\n' || c == '\r' ? 0 : column + 1;
  }
  return out.finish(str.markup);
}

Value format(Runtime& runtime, const Value& self, const Arguments& arguments) {
  return format_braces(runtime, self.str(), arguments);
}

Value format_map(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const Parameters parameters(runtime, "format_map", arguments, {"mapping"}, 1);
  const auto* dict = parameters[0]->as<Dict>();
  if (!dict) runtime.fail("format_map() needs a mapping");
  Arguments named;
  for (const auto& [key, value] : dict->entries)
    if (key.is_string()) named.named.emplace_back(key.str().bytes, value);
  return format_braces(runtime, self.str(), named);
}

/// Steps for asking what each character is: those beyond ASCII are looked up.
void charge_characters(Runtime& runtime, const Str& str) {
  runtime.step(str.bytes.size() / 8 + (str.ascii ? 0 : str.length()));
}

template <bool (*is_one)(char32_t)>
Value all_are(Runtime& runtime, const Value& self, const Arguments& arguments) {
  Parameters(runtime, "str method", arguments, {});
  const std::string& text = self.str().bytes;
  charge_characters(runtime, self.str());
  for (size_t at = 0; at < text.size(); at += char_bytes(text[at]))
    if (!is_one(code_point(text, at))) return false;
  return !text.empty();
}

bool is_alnum(char32_t c) { return unicode::is_alpha(c) || unicode::is_numeric(c); }

template <bool upper>
Value is_case(Runtime& runtime, const Value& self, const Arguments& arguments) {
  Parameters(runtime, "str method", arguments, {});
  return has_case(runtime, self.str(), upper);
}

Value is_title(Runtime& runtime, const Value& self, const Arguments& arguments) {
  Parameters(runtime, "istitle", arguments, {});
  const std::string& text = self.str().bytes;
  charge_characters(runtime, self.str());
  bool in_word = false, any = false;
  for (size_t at = 0; at < text.size(); at += char_bytes(text[at])) {
    const char32_t c = code_point(text, at);
    const bool starts = unicode::is_upper(c) || unicode::is_title(c), goes_on = unicode::is_lower(c);
    if ((starts && in_word) || (goes_on && !in_word)) return false;
    in_word = starts || goes_on;
    any |= in_word;
  }
  return any;
}

Value is_ascii(Runtime& runtime, const Value& self, const Arguments& arguments) {
  Parameters(runtime, "isascii", arguments, {});
  return self.str().ascii;
}

Value is_printable(Runtime& runtime, const Value& self, const Arguments& arguments) {
  if (self.str().bytes.empty()) return true;
  return all_are<unicode::is_printable>(runtime, self, arguments);
}

Value is_identifier(Runtime& runtime, const Value& self, const Arguments& arguments) {
  Parameters(runtime, "isidentifier", arguments, {});
  const std::string& text = self.str().bytes;
  if (text.empty() || !unicode::is_identifier_start(code_point(text, 0))) return false;
  return all_are<unicode::is_identifier_part>(runtime, self, arguments);
}

constexpr std::array<Method, 44> methods = {{
    {"capitalize", change_case<Case::capitalize>},
    {"casefold", change_case<Case::fold>},
    {"center", pad<'^'>},
    {"count", count},
    {"endswith", has_affix<false>},
    {"expandtabs", expandtabs},
    {"find", find<false, false>},
    {"format", format},
    {"format_map", format_map},
    {"index", find<false, true>},
    {"isalnum", all_are<is_alnum>},
    {"isalpha", all_are<unicode::is_alpha>},
    {"isascii", is_ascii},
    {"isdecimal", all_are<unicode::is_decimal>},
    {"isdigit", all_are<unicode::is_digit>},
    {"isidentifier", is_identifier},
    {"islower", is_case<false>},
    {"isnumeric", all_are<unicode::is_numeric>},
    {"isprintable", is_printable},
    {"isspace", all_are<unicode::is_space>},
    {"istitle", is_title},
    {"isupper", is_case<true>},
    {"join", join},
    {"ljust", pad<'<'>},
    {"lower", change_case<Case::lower>},
    {"lstrip", strip<Side::left>},
    {"partition", partition<false>},
    {"removeprefix", remove_affix<true>},
    {"removesuffix", remove_affix<false>},
    {"replace", replace},
    {"rfind", find<true, false>},
    {"rindex", find<true, true>},
    {"rjust", pad<'>'>},
    {"rpartition", partition<true>},
    {"rsplit", split<true>},
    {"rstrip", strip<Side::right>},
    {"split", split<false>},
    {"splitlines", splitlines},
    {"startswith", has_affix<true>},
    {"strip", strip<Side::both>},
    {"swapcase", change_case<Case::swap>},
    {"title", change_case<Case::title>},
    {"upper", change_case<Case::upper>},
    {"zfill", zfill},
}};

}  // namespace

bool has_case(Runtime& runtime, const Str& str, bool upper) {
  charge_characters(runtime, str);
  bool any = false;
  for (size_t at = 0; at < str.bytes.size(); at += char_bytes(str.bytes[at])) {
    const char32_t c = code_point(str.bytes, at);
    if (upper ? unicode::is_lower(c) || unicode::is_title(c) : unicode::is_upper(c) || unicode::is_title(c))
      return false;
    any |= upper ? unicode::is_upper(c) : unicode::is_lower(c);
  }
  return any;
}

std::span<const Method> string_methods() { return methods; }

}  // namespace minfer::chat::jinja
