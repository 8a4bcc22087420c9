// `tojson`: Python's json.dumps, byte for byte.
#include <algorithm>
#include <cmath>

#include "chat/jinja/compare.h"
#include "chat/jinja/print.h"
#include "chat/jinja/runtime.h"

namespace minfer::chat::jinja {
namespace {

/// The escape of a character inside a JSON string, empty if it stands as it is.
std::string json_escape(char32_t c, bool ensure_ascii) {
  switch (c) {
    case '"':
      return "\\\"";
    case '\\':
      return "\\\\";
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    case '\f':
      return "\\f";
    case '\b':
      return "\\b";
    default:
      break;
  }
  if (c >= 0x20 && (c < 0x7F || !ensure_ascii)) return {};
  if (c == 0x7F) return {};
  if (c < 0x10000) return fmt::format("\\u{:04x}", uint32_t(c));
  const uint32_t rest = uint32_t(c) - 0x10000;
  return fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + (rest >> 10), 0xDC00 + (rest & 0x3FF));
}

std::string json_number(const Value& value) {
  if (value.is_bool()) return value.boolean() ? "true" : "false";
  if (value.is_int()) return fmt::format("{}", value.integer());
  const double number = value.number();
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number < 0 ? "-Infinity" : "Infinity";
  return float_text(number);
}

class JsonWriter {
 public:
  JsonWriter(Runtime& runtime, TextBuilder& out, const JsonStyle& style)
      : runtime_(runtime), out_(out), style_(style) {}

  void write(const Value& value, bool trusted, size_t nesting = 0) {
    runtime_.step();
    const Runtime::Level level(runtime_);
    if (value.is_string()) {
      if (const Dict* parsed = value.str().parsed) return write_dict(*parsed, nesting);
      write_string(value.str(), trusted);
    } else if (value.is_none()) {
      out_.append("null", trusted);
    } else if (value.is_number()) {
      out_.append(json_number(value), trusted);
    } else if (const auto* list = value.as<List>()) {
      write_list(*list, nesting);
    } else if (const auto* dict = value.as<Dict>()) {
      write_dict(*dict, nesting);
    } else {
      runtime_.fail(fmt::format("Object of type {} is not JSON serializable", type_name(value)));
    }
  }

 private:
  void write_string(const Str& str, bool trusted) {
    out_.append("\"", trusted);
    for_each_run(str, 0, str.bytes.size(), [&](size_t begin, size_t end, bool run_trusted) {
      size_t copied = begin;
      for (size_t at = begin; at < end; at += char_bytes(str.bytes[at])) {
        const std::string escape = json_escape(code_point(str.bytes, at), style_.ensure_ascii);
        if (escape.empty()) continue;
        out_.append(str, copied, at);
        out_.append(escape, run_trusted);
        copied = at + char_bytes(str.bytes[at]);
      }
      out_.append(str, copied, end);
    });
    out_.append("\"", trusted);
  }

  /// Between the items of what came with a message, a separator is untrusted as they are.
  void separate(const Str& separator, bool trusted) {
    if (trusted) return out_.append(separator);
    out_.append(separator.bytes, false);
  }

  void line_break(size_t nesting, bool trusted) {
    if (!style_.indent) return;
    out_.append("\n", trusted);
    if (style_.indent->empty()) return;
    for (size_t i = 0; i < nesting; ++i) out_.append(*style_.indent, trusted);
  }

  void write_list(const List& list, size_t nesting) {
    if (list.items.size() == 0) return out_.append("[]", list.trusted);
    enter(&list);
    out_.append("[", list.trusted);
    for (size_t i = 0; i < list.items.size(); ++i) {
      if (i > 0) separate(*style_.item_separator, list.trusted);
      line_break(nesting + 1, list.trusted);
      write(list.items[i], list.trusted, nesting + 1);
    }
    line_break(nesting, list.trusted);
    out_.append("]", list.trusted);
    inside_.pop_back();
  }

  void write_dict(const Dict& dict, size_t nesting) {
    if (dict.entries.empty()) return out_.append("{}", dict.trusted);
    enter(&dict);
    std::vector<const std::pair<Value, Value>*> entries;
    for (const auto& entry : dict.entries) entries.push_back(&entry);
    if (style_.sort_keys)
      std::stable_sort(entries.begin(), entries.end(), [this](const auto* a, const auto* b) {
        return order(runtime_, a->first, b->first, "<") < 0;
      });
    out_.append("{", dict.trusted);
    for (size_t i = 0; i < entries.size(); ++i) {
      if (i > 0) separate(*style_.item_separator, dict.trusted);
      line_break(nesting + 1, dict.trusted);
      write_key(entries[i]->first, dict.trusted);
      separate(*style_.key_separator, dict.trusted);
      write(entries[i]->second, dict.trusted, nesting + 1);
    }
    line_break(nesting, dict.trusted);
    out_.append("}", dict.trusted);
    inside_.pop_back();
  }

  void write_key(const Value& key, bool trusted) {
    if (key.is_string()) return write_string(key.str(), trusted);
    if (!key.is_none() && !key.is_number())
      runtime_.fail(fmt::format("keys must be str, int, float, bool or None, not {}", type_name(key)));
    out_.append("\"" + (key.is_none() ? "null" : json_number(key)) + "\"", trusted);
  }

  void enter(const Object* object) {
    if (std::find(inside_.begin(), inside_.end(), object) != inside_.end())
      runtime_.fail("Circular reference detected");
    inside_.push_back(object);
  }

  Runtime& runtime_;
  TextBuilder& out_;
  const JsonStyle& style_;
  std::vector<const Object*> inside_;
};

}  // namespace

StrPtr to_json(Runtime& runtime, const Value& value, const JsonStyle& style) {
  TextBuilder out(runtime);
  JsonWriter(runtime, out, style).write(value, true);
  return out.finish();
}

}  // namespace minfer::chat::jinja
