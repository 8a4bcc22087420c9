#include <algorithm>
#include <charconv>
#include <cmath>

#include "chat/jinja/format.h"
#include "chat/jinja/operators.h"
#include "chat/jinja/print.h"
#include "chat/jinja/runtime.h"

namespace minfer::chat::jinja {
namespace {

/// A format specification: [[fill]align][sign][z][#][0][width][grouping][.precision][type].
struct Spec {
  std::string fill = " ";
  char align = 0, sign = '-', grouping = 0, type = 0;
  bool alternate = false, has_width = false;
  int64_t width = 0, precision = -1;
};

bool is_align(char c) { return c == '<' || c == '>' || c == '^' || c == '='; }

int64_t read_number(const Runtime& runtime, std::string_view text, size_t& at) {
  int64_t number = 0;
  const auto [stop, error] = std::from_chars(text.data() + at, text.data() + text.size(), number);
  if (error == std::errc::result_out_of_range) runtime.fail("Too many decimal digits in format string");
  at = size_t(stop - text.data());
  return number;
}

bool is_digit_at(std::string_view text, size_t at) {
  return at < text.size() && text[at] >= '0' && text[at] <= '9';
}

Spec parse_spec(const Runtime& runtime, std::string_view text) {
  Spec spec;
  size_t at = 0;
  const size_t first = text.empty() ? 0 : char_bytes(text[0]);
  if (first < text.size() && is_align(text[first])) {
    spec.fill = std::string(text.substr(0, first));
    spec.align = text[first];
    at = first + 1;
  } else if (!text.empty() && is_align(text[0])) {
    spec.align = text[at++];
  }
  const auto next_is = [&](char c) { return at < text.size() && text[at] == c; };
  if (next_is('+') || next_is('-') || next_is(' ')) spec.sign = text[at++];
  if (next_is('z')) ++at;
  if (next_is('#')) {
    spec.alternate = true;
    ++at;
  }
  if (next_is('0') && spec.align == 0) {
    spec.fill = "0";
    spec.align = '=';
    ++at;
  }
  if (is_digit_at(text, at)) spec.width = read_number(runtime, text, at);
  if (next_is(',') || next_is('_')) spec.grouping = text[at++];
  if (next_is('.')) {
    ++at;
    if (!is_digit_at(text, at)) runtime.fail("Format specifier missing precision");
    spec.precision = read_number(runtime, text, at);
  }
  if (at < text.size()) spec.type = text[at++];
  if (at < text.size()) runtime.fail(fmt::format("Invalid format specifier {}", quoted(text)));
  return spec;
}

/// Digits in groups of three (or four, of other bases), up to the end of the whole part.
std::string grouped(const std::string& digits, char separator, size_t group) {
  const size_t sign = digits.starts_with('-') ? 1 : 0;
  const size_t whole_end = std::min(digits.find_first_of(".eE%"), digits.size());
  std::string result = digits.substr(0, sign);
  for (size_t i = sign; i < whole_end; ++i) {
    if (i > sign && (whole_end - i) % group == 0) result += separator;
    result += digits[i];
  }
  return result + digits.substr(whole_end);
}

[[noreturn]] void fail_type(const Runtime& runtime, const Spec& spec, std::string_view type) {
  runtime.fail(fmt::format("Unknown format code '{}' for object of type '{}'", spec.type, type));
}

StrPtr finish_number(Runtime& runtime, const Spec& spec, std::string digits, size_t group) {
  if (spec.grouping) digits = grouped(digits, spec.grouping, group);
  if (!digits.starts_with('-') && spec.sign != '-') digits.insert(0, 1, spec.sign);
  TextBuilder out(runtime);
  append_padded(out, Str(digits), spec.width, spec.align ? spec.align : '>', spec.fill);
  return out.finish();
}

StrPtr format_float_spec(Runtime& runtime, double number, const Spec& spec) {
  std::string digits;
  if (spec.type == 0 && spec.precision < 0) {
    digits = float_text(number);
  } else if (spec.type == 0) {
    // As `g`, but with at least one digit after the point.
    digits = format_float(runtime, number, 'g', std::max<int64_t>(spec.precision, 1));
    if (std::isfinite(number) && digits.find_first_of(".e") == digits.npos) digits += ".0";
  } else if (spec.type == '%') {
    digits = format_float(runtime, number * 100, 'f', spec.precision < 0 ? 6 : spec.precision) + "%";
  } else if (std::string_view("eEfFgGn").find(spec.type) != std::string_view::npos) {
    digits = format_float(runtime, number, spec.type == 'n' ? 'g' : spec.type,
                          spec.precision < 0 ? 6 : spec.precision, spec.alternate);
  } else {
    fail_type(runtime, spec, "float");
  }
  return finish_number(runtime, spec, digits, 3);
}

StrPtr format_integer_spec(Runtime& runtime, const Value& value, const Spec& spec) {
  if (std::string_view("eEfFgG%").find(spec.type) != std::string_view::npos && spec.type != 0)
    return format_float_spec(runtime, double(value.integer()), spec);
  if (spec.precision >= 0) runtime.fail("Precision not allowed in integer format specifier");
  std::string digits, prefix;
  switch (spec.type) {
    case 0:
    case 'd':
    case 'n':
      digits = format_integer(value.integer(), 10);
      break;
    case 'b':
      digits = format_integer(value.integer(), 2);
      break;
    case 'o':
      digits = format_integer(value.integer(), 8);
      break;
    case 'x':
    case 'X':
      digits = format_integer(value.integer(), 16);
      break;
    case 'c': {
      const int64_t c = value.integer();
      if (c < 0 || c > 0x10FFFF || (c >= 0xD800 && c < 0xE000)) runtime.fail("%c arg not in range(0x110000)");
      append_utf8(digits, char32_t(c));
      break;
    }
    default:
      fail_type(runtime, spec, "int");
  }
  const bool is_decimal = spec.type == 0 || spec.type == 'd' || spec.type == 'n';
  if (spec.alternate && !is_decimal && spec.type != 'c')
    digits.insert(digits.starts_with('-') ? 1 : 0, std::string("0") + char(spec.type | 0x20));
  if (spec.type == 'X') std::transform(digits.begin(), digits.end(), digits.begin(), ::toupper);
  return finish_number(runtime, spec, digits, is_decimal ? 3 : 4);
}

StrPtr format_text_spec(Runtime& runtime, const StrPtr& text, const Spec& spec) {
  if (spec.type != 0 && spec.type != 's') fail_type(runtime, spec, "str");
  if (spec.grouping) runtime.fail(fmt::format("Cannot specify '{}' with 's'.", spec.grouping));
  if (spec.alternate) runtime.fail("Alternate form (#) not allowed in string format specifier");
  if (spec.sign != '-') runtime.fail("Sign not allowed in string format specifier");
  if (spec.align == '=' && spec.fill != "0")
    runtime.fail("'=' alignment not allowed in string format specifier");
  TextBuilder cut(runtime);
  cut.append(
      *text, 0,
      spec.precision < 0 ? text->bytes.size() : skip_code_points(text->bytes, 0, size_t(spec.precision)));
  TextBuilder out(runtime);
  append_padded(out, *cut.finish(), spec.width, spec.align == 0 || spec.align == '=' ? '<' : spec.align,
                spec.fill);
  return out.finish();
}

/// Goes over a format text and its replacement fields.
class BraceFormatter {
 public:
  BraceFormatter(Runtime& runtime, const Arguments& arguments) : runtime_(runtime), arguments_(arguments) {}

  StrPtr run(const Str& text, size_t begin, size_t end, int nesting) {
    TextBuilder out(runtime_);
    for (size_t at = begin; at < end;) {
      const size_t brace = std::min(text.bytes.find_first_of("{}", at), end);
      out.append(text, at, brace);
      at = brace;
      if (at >= end) break;
      const char c = text.bytes[at];
      if (at + 1 < end && text.bytes[at + 1] == c) {
        out.append(text, at, at + 1);
        at += 2;
      } else if (c == '}') {
        runtime_.fail("Single '}' encountered in format string");
      } else {
        at = field(text, at + 1, end, nesting, out);
      }
    }
    return out.finish(text.markup);
  }

 private:
  /// The field that begins at `begin`, after its brace; returns where it ends, after its brace.
  size_t field(const Str& text, size_t begin, size_t end, int nesting, TextBuilder& out) {
    runtime_.step();
    if (nesting > 1) runtime_.fail("Max string recursion exceeded");
    const std::string_view bytes(text.bytes);
    size_t close = begin;
    int open = 1;
    for (; close < end; ++close) {
      open += bytes[close] == '{' ? 1 : bytes[close] == '}' ? -1 : 0;
      if (open == 0) break;
    }
    if (open > 0) runtime_.fail("expected '}' before end of string");
    size_t name_end = begin;
    for (bool in_brackets = false; name_end < close; ++name_end) {
      if (bytes[name_end] == '[') in_brackets = true;
      if (bytes[name_end] == ']') in_brackets = false;
      if (!in_brackets && (bytes[name_end] == '!' || bytes[name_end] == ':')) break;
    }
    Value value = look_up(bytes.substr(begin, name_end - begin));
    size_t at = name_end;
    if (at < close && bytes[at] == '!') {
      value = converted(value, at + 1 < close ? bytes[at + 1] : '\0');
      at += 2;
      if (at < close && bytes[at] != ':') runtime_.fail("expected ':' after conversion specifier");
    }
    const StrPtr spec = at < close ? run(text, at + 1, close, nesting + 1) : std::make_shared<const Str>("");
    StrPtr formatted = format_value(runtime_, value, spec->bytes);
    out.append(text.markup ? *escaped(runtime_, Value(formatted)) : *formatted);
    return close + 1;
  }

  Value converted(const Value& value, char conversion) {
    if (conversion == 's') return to_text(runtime_, value);
    if (conversion == 'r' || conversion == 'a') return to_repr(runtime_, value);
    runtime_.fail(fmt::format("Unknown conversion specifier '{}'", conversion));
  }

  /// `name`, `0`, nothing (the next), with `.attribute` and `[item]` after it.
  Value look_up(std::string_view field) {
    const size_t first_end = std::min(field.find_first_of(".["), field.size());
    const std::string_view first = field.substr(0, first_end);
    Value value = first_value(first);
    for (size_t at = first_end; at < field.size();) {
      if (field[at] == '.') {
        const size_t end = std::min(field.find_first_of(".[", at + 1), field.size());
        value = get_attribute(runtime_, value, field.substr(at + 1, end - at - 1));
        at = end;
      } else if (field[at] == '[') {
        const size_t end = field.find(']', at);
        if (end == field.npos) runtime_.fail("Missing ']' in format string");
        value = get_item(runtime_, value, key_of(field.substr(at + 1, end - at - 1)));
        at = end + 1;
      } else {
        runtime_.fail("Only '.' or '[' may follow ']' in format field specifier");
      }
    }
    return value;
  }

  Value key_of(std::string_view text) {
    int64_t index = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), index);
    const bool is_index =
        !text.empty() && text[0] != '-' && error == std::errc() && stop == text.data() + text.size();
    return is_index ? Value(index) : runtime_.text(text);
  }

  Value first_value(std::string_view name) {
    const Value key = name.empty() ? Value(int64_t(automatic_++)) : key_of(name);
    if (key.is_int()) {
      if (!name.empty() ? automatic_ > 0 : manual_)
        runtime_.fail("cannot switch between manual and automatic field numbering");
      manual_ = manual_ || !name.empty();
      if (size_t(key.integer()) >= arguments_.positional.size())
        runtime_.fail(
            fmt::format("Replacement index {} out of range for positional args tuple", key.integer()));
      return arguments_.positional[size_t(key.integer())];
    }
    for (const auto& [argument, value] : arguments_.named)
      if (argument == name) return value;
    runtime_.fail(fmt::format("KeyError: {}", quoted(name)));
  }

  Runtime& runtime_;
  const Arguments& arguments_;
  int64_t automatic_ = 0;
  bool manual_ = false;
};

}  // namespace

StrPtr format_value(Runtime& runtime, const Value& value, std::string_view spec_text) {
  if (spec_text.empty()) return to_text(runtime, value);
  if (value.is_string())
    return format_text_spec(runtime, value.str_pointer(), parse_spec(runtime, spec_text));
  if (value.is_float()) return format_float_spec(runtime, value.number(), parse_spec(runtime, spec_text));
  if (value.is_integral()) return format_integer_spec(runtime, value, parse_spec(runtime, spec_text));
  runtime.fail(fmt::format("unsupported format string passed to {}.__format__", type_name(value)));
}

StrPtr format_braces(Runtime& runtime, const Str& text, const Arguments& arguments) {
  return BraceFormatter(runtime, arguments).run(text, 0, text.bytes.size(), 0);
}

}  // namespace minfer::chat::jinja
