#include "chat/jinja/print.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "chat/jinja/ast.h"
#include "chat/jinja/runtime.h"
#include "chat/jinja/unicode.h"

namespace minfer::chat::jinja {
namespace {

/// The escape that repr writes for a character, empty if it is printed as it is.
std::string repr_escape(char32_t c, char quote) {
  switch (c) {
    case '\\':
      return "\\\\";
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      break;
  }
  if (c == char32_t(quote)) return {'\\', quote};
  if (unicode::is_printable(c)) return {};
  if (c < 0x100) return fmt::format("\\x{:02x}", uint32_t(c));
  if (c < 0x10000) return fmt::format("\\u{:04x}", uint32_t(c));
  return fmt::format("\\U{:08x}", uint32_t(c));
}

/// Single quotes, unless the text has single quotes and no double ones.
char quote_for(std::string_view text) {
  return text.find('\'') != text.npos && text.find('"') == text.npos ? '"' : '\'';
}

/// Writes values as repr does. Tracks what it is inside of: an object that holds itself prints as `...`.
class ReprWriter {
 public:
  ReprWriter(Runtime& runtime, TextBuilder& out) : runtime_(runtime), out_(out) {}

  void write(const Value& value, bool trusted = true) {
    runtime_.step();
    const Runtime::Level level(runtime_);
    if (value.is_string()) return write_string(value.str(), trusted);
    if (value.is_object()) return write_object(value);
    print_plain(value, trusted);
  }

  /// None, booleans and numbers.
  void print_plain(const Value& value, bool trusted) {
    if (value.is_none()) {
      out_.append("None", trusted);
    } else if (value.is_undefined()) {
      out_.append("Undefined", trusted);
    } else if (value.is_bool()) {
      out_.append(value.boolean() ? "True" : "False", trusted);
    } else if (value.is_int()) {
      out_.append(fmt::format("{}", value.integer()), trusted);
    } else {
      out_.append(float_text(value.number()), trusted);
    }
  }

 private:
  void write_string(const Str& str, bool trusted) {
    const char quote = quote_for(str.bytes);
    if (str.markup) out_.append("Markup(", trusted);
    out_.append({&quote, 1}, trusted);
    for_each_run(str, 0, str.bytes.size(), [&](size_t begin, size_t end, bool run_trusted) {
      size_t copied = begin;
      for (size_t at = begin; at < end; at += char_bytes(str.bytes[at])) {
        if (uint8_t(str.bytes[at]) >= 0x80) runtime_.step();  // looked up in tables
        const std::string escape = repr_escape(code_point(str.bytes, at), quote);
        if (escape.empty()) continue;
        out_.append(str, copied, at);
        out_.append(escape, run_trusted);
        copied = at + char_bytes(str.bytes[at]);
      }
      out_.append(str, copied, end);
    });
    out_.append({&quote, 1}, trusted);
    if (str.markup) out_.append(")", trusted);
  }

  void write_object(const Value& value) {
    if (std::find(inside_.begin(), inside_.end(), value.object()) != inside_.end()) {
      out_.append(value.as<Dict>() ? "{...}" : value.as<List>() ? "[...]" : "<Namespace {...}>", true);
      return;
    }
    inside_.push_back(value.object());
    if (const auto* list = value.as<List>()) {
      write_list(*list);
    } else if (const auto* dict = value.as<Dict>()) {
      write_dict(*dict);
    } else if (const auto* ns = value.as<Namespace>()) {
      out_.append("<Namespace ", true);
      write(ns->attributes);
      out_.append(">", true);
    } else if (const auto* view = value.as<View>()) {
      write_view(*view);
    } else {
      write_opaque(value);
    }
    inside_.pop_back();
  }

  void write_list(const List& list) {
    const bool is_tuple = list.type == ObjectType::tuple, trusted = list.trusted;
    out_.append(is_tuple ? "(" : "[", trusted);
    for (size_t i = 0; i < list.items.size(); ++i) {
      if (i > 0) out_.append(", ", trusted);
      write(list.items[i], trusted);
    }
    out_.append(is_tuple ? list.items.size() == 1 ? ",)" : ")" : "]", trusted);
  }

  void write_dict(const Dict& dict) {
    out_.append("{", dict.trusted);
    for (size_t i = 0; i < dict.entries.size(); ++i) {
      if (i > 0) out_.append(", ", dict.trusted);
      write(dict.entries[i].first, dict.trusted);
      out_.append(": ", dict.trusted);
      write(dict.entries[i].second, dict.trusted);
    }
    out_.append("}", dict.trusted);
  }

  void write_view(const View& view) {
    static constexpr std::string_view names[] = {"dict_keys([", "dict_values([", "dict_items(["};
    out_.append(names[size_t(view.part)], true);
    for (size_t i = 0; i < view.dict->entries.size(); ++i) {
      const auto& [key, value] = view.dict->entries[i];
      if (i > 0) out_.append(", ", true);
      if (view.part == View::Part::items) out_.append("(", true);
      if (view.part != View::Part::values) write(key, view.dict->trusted);
      if (view.part == View::Part::items) out_.append(", ", true);
      if (view.part != View::Part::keys) write(value, view.dict->trusted);
      if (view.part == View::Part::items) out_.append(")", true);
    }
    out_.append("])", true);
  }

  void write_opaque(const Value& value) {
    if (const auto* range = value.as<Range>()) {
      const std::string step = range->step == 1 ? "" : fmt::format(", {}", range->step);
      out_.append(fmt::format("range({}, {}{})", range->start, range->stop, step), true);
    } else if (const auto* macro = value.as<Macro>()) {
      out_.append(macro->name.empty() ? "<Macro anonymous>" : fmt::format("<Macro {}>", quoted(macro->name)),
                  true);
    } else if (const auto* loop = value.as<Loop>()) {
      out_.append(fmt::format("<LoopContext {}/{}>", loop->index0 + 1, loop->items.size()), true);
    } else {
      out_.append(fmt::format("<{} object>", type_name(value)), true);
    }
  }

  Runtime& runtime_;
  TextBuilder& out_;
  std::vector<const Object*> inside_;
};

}  // namespace

std::string quoted(std::string_view text) {
  const char quote = quote_for(text);
  std::string result(1, quote);
  for (size_t at = 0; at < text.size(); at += char_bytes(text[at])) {
    const std::string escape = repr_escape(code_point(text, at), quote);
    result += escape.empty() ? std::string(text.substr(at, char_bytes(text[at]))) : escape;
  }
  return result + quote;
}

std::string float_text(double number) {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number < 0 ? "-inf" : "inf";
  char buffer[40];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, number, std::chars_format::scientific).ptr;
  const std::string_view text(buffer, size_t(end - buffer));
  const size_t e = text.find('e');
  const int exponent = std::atoi(std::string(text.substr(e + 1)).c_str());
  if (exponent < -4 || exponent >= 16)
    return fmt::format("{}e{}{:02}", text.substr(0, e), exponent < 0 ? '-' : '+', std::abs(exponent));
  const auto fixed_end = std::to_chars(buffer, buffer + sizeof buffer, number, std::chars_format::fixed).ptr;
  std::string fixed(buffer, fixed_end);
  return fixed.find('.') == fixed.npos ? fixed + ".0" : fixed;
}

void print(TextBuilder& out, Runtime& runtime, const Value& value) {
  if (value.is_undefined()) return;
  if (value.is_string()) return out.append(value.str());
  ReprWriter(runtime, out).write(value);
}

StrPtr to_text(Runtime& runtime, const Value& value) {
  if (value.is_string()) return value.str_pointer();
  TextBuilder out(runtime);
  print(out, runtime, value);
  return out.finish();
}

StrPtr to_repr(Runtime& runtime, const Value& value) {
  TextBuilder out(runtime);
  ReprWriter(runtime, out).write(value);
  return out.finish();
}

}  // namespace minfer::chat::jinja
