// Filters that give text.
#include <algorithm>

#include "chat/jinja/filter_tables.h"
#include "chat/jinja/format.h"
#include "chat/jinja/from_json.h"
#include "chat/jinja/iterate.h"
#include "chat/jinja/operators.h"
#include "chat/jinja/print.h"
#include "chat/jinja/runtime.h"
#include "chat/jinja/strings.h"
#include "chat/jinja/unicode.h"

namespace minfer::chat::jinja {
namespace {

using strings::Case;

/// The same text as no markup: what str() makes of it.
StrPtr without_markup(Runtime& runtime, const StrPtr& text) {
  if (!text->markup) return text;
  TextBuilder out(runtime);
  out.append(*text);
  return out.finish();
}

template <Case wanted>
Value change_case(Runtime& runtime, const Value& input, const Arguments& arguments) {
  Parameters(runtime, "filter", arguments, {});
  return strings::change_case(runtime, *to_text(runtime, input), wanted);
}

bool starts_word(char32_t c) {
  return unicode::is_space(c) || c == '-' || c == '(' || c == '{' || c == '[' || c == '<';
}

/// Unlike str.title: words begin after blanks and opening brackets only.
Value title(Runtime& runtime, const Value& input, const Arguments& arguments) {
  Parameters(runtime, "title", arguments, {});
  const StrPtr text = to_text(runtime, input);
  TextBuilder out(runtime);
  for (size_t at = 0; at < text->bytes.size();) {
    size_t end = at;
    const bool is_word = !starts_word(code_point(text->bytes, at));
    while (end < text->bytes.size() && starts_word(code_point(text->bytes, end)) != is_word)
      end += char_bytes(text->bytes[end]);
    const size_t first = is_word ? at + char_bytes(text->bytes[at]) : end;
    out.append(*strings::change_case(runtime, *strings::part(runtime, *text, at, first), Case::upper));
    out.append(*strings::change_case(runtime, *strings::part(runtime, *text, first, end), Case::lower));
    at = end;
  }
  return out.finish();
}

Value trim(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const Parameters parameters(runtime, "trim", arguments, {"chars"});
  const Str* characters = parameters.has(0) ? &parameters.string(0) : nullptr;
  return strings::strip(runtime, *to_text(runtime, input), characters, strings::Side::both);
}

Value string(Runtime& runtime, const Value& input, const Arguments& arguments) {
  Parameters(runtime, "string", arguments, {});
  return to_text(runtime, input);
}

Value safe(Runtime& runtime, const Value& input, const Arguments& arguments) {
  Parameters(runtime, "safe", arguments, {});
  TextBuilder out(runtime);
  print(out, runtime, input);
  return out.finish(true);
}

Value escape(Runtime& runtime, const Value& input, const Arguments& arguments) {
  Parameters(runtime, "escape", arguments, {});
  return escaped(runtime, input);
}

Value force_escape(Runtime& runtime, const Value& input, const Arguments& arguments) {
  Parameters(runtime, "forceescape", arguments, {});
  TextBuilder plain(runtime);
  print(plain, runtime, input);
  return escaped(runtime, Value(StrPtr(plain.finish())));
}

Value replace(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const Parameters parameters(runtime, "replace", arguments, {"old", "new", "count"}, 2);
  const int64_t limit = parameters.has(2) ? parameters.integer(2, -1) : -1;
  const StrPtr from = to_text(runtime, *parameters[0]), to = to_text(runtime, *parameters[1]);
  return strings::replace(runtime, *without_markup(runtime, to_text(runtime, input)), *from, *to, limit);
}

Value join(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const Parameters parameters(runtime, "join", arguments, {"d", "attribute"});
  Items items = items_of(runtime, input);
  if (parameters.has(1))
    for (Value& item : items.values()) item = attribute_of(runtime, item, *parameters[1]);
  const StrPtr separator = parameters[0] ? to_text(runtime, *parameters[0]) : std::make_shared<const Str>("");
  return strings::join(runtime, *without_markup(runtime, separator), items);
}

Value center(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const Parameters parameters(runtime, "center", arguments, {"width"});
  Arguments width;
  width.positional.emplace_back(parameters.integer(0, 80));
  const Value text = to_text(runtime, input);
  return find_method(text, "center")(runtime, text, width);
}

Value indent(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const Parameters parameters(runtime, "indent", arguments, {"width", "first", "blank"});
  require_defined(runtime, input);
  if (!input.is_string())
    runtime.fail(fmt::format("indent: a string is expected, found {}", type_name(input)));
  StrPtr by = std::make_shared<const Str>(" ");
  int64_t times = 4;
  if (parameters[0] && parameters[0]->is_string()) {
    by = parameters[0]->str_pointer();
    times = 1;
  } else {
    times = parameters.integer(0, 4);
  }
  const bool first = parameters.boolean(1, false), blank = parameters.boolean(2, false);
  // With a line end at the end, so that a last empty line counts.
  TextBuilder whole(runtime);
  whole.append(input.str());
  whole.append("\n", true);
  const Items lines = strings::split_lines(runtime, *whole.finish(), false);
  TextBuilder out(runtime);
  for (size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) out.append("\n", true);
    const bool indented = i == 0 ? first : blank || !lines[i].str().bytes.empty();
    if (indented) out.repeat(*by, times);
    out.append(lines[i].str());
  }
  return out.finish(input.str().markup);
}

Value truncate(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const Parameters parameters(runtime, "truncate", arguments, {"length", "killwords", "end", "leeway"});
  const StrPtr end = parameters[2] ? to_text(runtime, *parameters[2]) : std::make_shared<const Str>("...");
  const int64_t length = parameters.integer(0, 255), end_length = int64_t(end->length());
  const int64_t leeway = parameters.has(3) ? parameters.integer(3, 5) : 5;
  if (length < end_length) runtime.fail(fmt::format("expected length >= {}, got {}", end_length, length));
  if (leeway < 0) runtime.fail(fmt::format("expected leeway >= 0, got {}", leeway));
  const auto input_length = length_of(input);
  if (input_length && *input_length <= length + std::min<int64_t>(leeway, int64_t(1) << 40)) return input;
  if (!input.is_string())
    runtime.fail(fmt::format("truncate: a string is expected, found {}", type_name(input)));
  const Str& text = input.str();
  size_t kept = skip_code_points(text.bytes, 0, size_t(length - end_length));
  if (!parameters.boolean(1, false)) {
    const size_t blank = std::string_view(text.bytes).substr(0, kept).rfind(' ');
    if (blank != std::string_view::npos) kept = blank;
  }
  TextBuilder out(runtime);
  out.append(text, 0, kept);
  out.append(*end);
  return out.finish(text.markup);
}

Value wordcount(Runtime& runtime, const Value& input, const Arguments& arguments) {
  Parameters(runtime, "wordcount", arguments, {});
  const StrPtr text = to_text(runtime, input);
  runtime.step(text->bytes.size() / 8 + (text->ascii ? 0 : text->length()));
  int64_t words = 0;
  bool in_word = false;
  for (size_t at = 0; at < text->bytes.size(); at += char_bytes(text->bytes[at])) {
    const char32_t c = code_point(text->bytes, at);
    const bool is_word = c == '_' || unicode::is_alpha(c) || unicode::is_numeric(c);
    words += is_word && !in_word;
    in_word = is_word;
  }
  return words;
}

Value format(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const StrPtr text = to_text(runtime, input);
  if (!arguments.positional.empty() && !arguments.named.empty())
    runtime.fail("format: can't handle positional and keyword arguments at the same time");
  if (!arguments.named.empty()) {
    auto* dict = runtime.make<Dict>(runtime);
    for (const auto& [name, value] : arguments.named) dict->set(runtime.text(name), value);
    return format_percent(runtime, *text, dict);
  }
  Items items(runtime);
  for (const Value& value : arguments.positional) items.add(value);
  return format_percent(runtime, *text, runtime.tuple(std::move(items)));
}

Value tojson(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const Parameters parameters(runtime, "tojson", arguments,
                              {"ensure_ascii", "indent", "separators", "sort_keys"});
  JsonStyle style;
  style.ensure_ascii = parameters.boolean(0, false);
  style.sort_keys = parameters.boolean(3, false);
  if (parameters.has(1) && parameters[1]->is_string()) {
    style.indent = parameters[1]->str().bytes;
  } else if (parameters.has(1)) {
    const int64_t width = parameters.integer(1, 0);
    if (width > int64_t(runtime.limits().text_bytes)) runtime.fail_limit("an indent of this width");
    style.indent = std::string(size_t(std::max<int64_t>(width, 0)), ' ');
  }
  style.item_separator = std::make_shared<const Str>(style.indent ? "," : ", ");
  style.key_separator = std::make_shared<const Str>(": ");
  if (parameters.has(2)) {
    const Items separators = items_of(runtime, *parameters[2]);
    if (separators.size() != 2 || !separators[0].is_string() || !separators[1].is_string())
      runtime.fail("tojson: separators must be two strings");
    style.item_separator = separators[0].str_pointer();
    style.key_separator = separators[1].str_pointer();
  }
  return to_json(runtime, input, style);
}

/// Not Jinja2's own, but some published templates are written for engines that have it.
Value from_json_filter(Runtime& runtime, const Value& input, const Arguments& arguments) {
  Parameters(runtime, "from_json", arguments, {});
  if (!input.is_string())
    runtime.fail(fmt::format("from_json: a string is expected, found {}", type_name(input)));
  runtime.step(input.str().bytes.size() / 8);
  const auto value = from_json_text(runtime, input.str().bytes);
  if (!value) runtime.fail("from_json: the string is no JSON");
  return *value;
}

void append_quoted(TextBuilder& out, std::string_view bytes, bool keep_slash, bool plus_for_blank) {
  for (const char c : bytes) {
    const bool plain = std::isalnum(uint8_t(c)) || std::string_view("_.-~").find(c) != std::string_view::npos;
    if (plain || (c == '/' && keep_slash)) {
      out.append({&c, 1}, false);
    } else if (c == ' ' && plus_for_blank) {
      out.append("+", false);
    } else {
      out.append(fmt::format("%{:02X}", uint8_t(c)), false);
    }
  }
}

Value urlencode(Runtime& runtime, const Value& input, const Arguments& arguments) {
  Parameters(runtime, "urlencode", arguments, {});
  TextBuilder out(runtime);
  if (input.is_string()) runtime.step(input.str().bytes.size() / 4);
  if (input.is_string() || !iterable(input)) {
    append_quoted(out, to_text(runtime, input)->bytes, true, false);
    return out.finish();
  }
  const auto* dict = input.as<Dict>();
  const Items pairs = dict ? items_of(runtime, runtime.make<View>(input.as<Dict>(), View::Part::items))
                           : items_of(runtime, input);
  for (size_t i = 0; i < pairs.size(); ++i) {
    const Items pair = items_of(runtime, pairs[i]);
    if (pair.size() != 2) runtime.fail("urlencode: pairs are expected");
    if (i > 0) out.append("&", false);
    append_quoted(out, to_text(runtime, pair[0])->bytes, false, true);
    out.append("=", false);
    append_quoted(out, to_text(runtime, pair[1])->bytes, false, true);
  }
  return out.finish();
}

constexpr Filter filters[] = {{"upper", change_case<Case::upper>},
                              {"lower", change_case<Case::lower>},
                              {"capitalize", change_case<Case::capitalize>},
                              {"title", title},
                              {"trim", trim},
                              {"string", string},
                              {"safe", safe},
                              {"e", escape},
                              {"escape", escape},
                              {"forceescape", force_escape},
                              {"replace", replace},
                              {"join", join},
                              {"center", center},
                              {"indent", indent},
                              {"truncate", truncate},
                              {"wordcount", wordcount},
                              {"format", format},
                              {"tojson", tojson},
                              {"from_json", from_json_filter},
                              {"urlencode", urlencode}};

}  // namespace

std::span<const Filter> text_filters() { return filters; }

}  // namespace minfer::chat::jinja
