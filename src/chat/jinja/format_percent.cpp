#include <algorithm>
#include <charconv>
#include <cmath>

#include "chat/jinja/format.h"
#include "chat/jinja/operators.h"
#include "chat/jinja/print.h"
#include "chat/jinja/runtime.h"

namespace minfer::chat::jinja {
namespace {

/// One conversion of a format text: %(key)-10.3s.
struct Conversion {
  bool left = false, plus = false, blank = false, zero = false, alternate = false;
  int64_t width = 0, precision = -1;
  char type = 's';
};

class PercentFormatter {
 public:
  PercentFormatter(Runtime& runtime, const Str& text, const Value& arguments)
      : runtime_(runtime), text_(text), arguments_(arguments), out_(runtime) {}

  StrPtr run() {
    const std::string& bytes = text_.bytes;
    while (at_ < bytes.size()) {
      const size_t percent = std::min(bytes.find('%', at_), bytes.size());
      out_.append(text_, at_, percent);
      at_ = percent;
      if (at_ < bytes.size()) convert();
    }
    const bool is_mapping = arguments_.as<Dict>() || arguments_.is_undefined() || arguments_.as<Range>() ||
                            (arguments_.as<List>() && !tuple());
    if (!is_mapping && next_ < count()) runtime_.fail("not all arguments converted during string formatting");
    return out_.finish(text_.markup);
  }

 private:
  const List* tuple() const {
    const auto* list = arguments_.as<List>();
    return list && list->type == ObjectType::tuple ? list : nullptr;
  }
  size_t count() const { return tuple() ? tuple()->items.size() : 1; }

  Value next_argument() {
    if (next_ >= count()) runtime_.fail("not enough arguments for format string");
    const size_t i = next_++;
    return tuple() ? tuple()->items[i] : arguments_;
  }

  char take() {
    if (at_ >= text_.bytes.size()) runtime_.fail("incomplete format");
    return text_.bytes[at_++];
  }

  /// A number or `*`; nothing leaves `otherwise`.
  int64_t read_number(int64_t otherwise) {
    if (at_ < text_.bytes.size() && text_.bytes[at_] == '*') {
      ++at_;
      const Value value = next_argument();
      if (!value.is_integral()) runtime_.fail("* wants int");
      return value.integer();
    }
    const char *begin = text_.bytes.data() + at_, *end = text_.bytes.data() + text_.bytes.size();
    int64_t number = otherwise;
    const auto [stop, error] = std::from_chars(begin, end, number);
    if (error == std::errc::result_out_of_range) runtime_.fail("width or precision too big");
    at_ += size_t(stop - begin);
    return number;
  }

  Value keyed_argument() {
    const auto* dict = arguments_.as<Dict>();
    if (!dict) runtime_.fail("format requires a mapping");
    const size_t begin = at_;
    int open = 1;
    while (open > 0) {
      const char c = take();
      open += c == '(' ? 1 : c == ')' ? -1 : 0;
    }
    const std::string_view key = std::string_view(text_.bytes).substr(begin, at_ - 1 - begin);
    next_ = count();
    const Value* value = dict->find(key);
    if (!value) runtime_.fail(fmt::format("KeyError: {}", quoted(key)));
    return *value;
  }

  void read_flags(Conversion& conversion) {
    for (; at_ < text_.bytes.size(); ++at_) {
      switch (text_.bytes[at_]) {
        case '-':
          conversion.left = true;
          break;
        case '+':
          conversion.plus = true;
          break;
        case ' ':
          conversion.blank = true;
          break;
        case '0':
          conversion.zero = true;
          break;
        case '#':
          conversion.alternate = true;
          break;
        default:
          return;
      }
    }
  }

  void convert() {
    runtime_.step();
    ++at_;
    Conversion conversion;
    std::optional<Value> keyed;
    if (at_ < text_.bytes.size() && text_.bytes[at_] == '(') {
      ++at_;
      keyed = keyed_argument();
    }
    read_flags(conversion);
    conversion.width = read_number(0);
    if (conversion.width < 0) {
      conversion.left = true;
      conversion.width = -conversion.width;
    }
    if (at_ < text_.bytes.size() && text_.bytes[at_] == '.') {
      ++at_;
      conversion.precision = std::max<int64_t>(0, read_number(0));
    }
    while (at_ < text_.bytes.size() &&
           std::string_view("hlL").find(text_.bytes[at_]) != std::string_view::npos)
      ++at_;
    conversion.type = take();
    if (conversion.type == '%') return out_.append("%", true);
    write(conversion, keyed ? *keyed : next_argument());
  }

  void write(const Conversion& conversion, const Value& value) {
    switch (conversion.type) {
      case 's':
      case 'r':
      case 'a':
        return write_text(conversion, value);
      case 'c':
        return write_character(conversion, value);
      case 'd':
      case 'i':
      case 'u':
      case 'o':
      case 'x':
      case 'X':
        return write_integer(conversion, value);
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G':
        return write_float(conversion, value);
      default:
        runtime_.fail(fmt::format("unsupported format character '{}'", conversion.type));
    }
  }

  void write_text(const Conversion& conversion, const Value& value) {
    StrPtr text = conversion.type == 's' ? to_text(runtime_, value) : to_repr(runtime_, value);
    if (text_.markup) text = escaped(runtime_, Value(text));
    if (conversion.precision >= 0) {
      TextBuilder cut(runtime_);
      cut.append(*text, 0, skip_code_points(text->bytes, 0, size_t(conversion.precision)));
      text = cut.finish();
    }
    append_padded(out_, *text, conversion.width, conversion.left ? '<' : '>');
  }

  void write_character(const Conversion& conversion, const Value& value) {
    std::string character;
    if (value.is_string() && value.str().length() == 1) return write_text(conversion, value);
    if (!value.is_integral()) runtime_.fail("%c requires int or char");
    const int64_t c = value.integer();
    if (c < 0 || c > 0x10FFFF || (c >= 0xD800 && c < 0xE000)) runtime_.fail("%c arg not in range(0x110000)");
    append_utf8(character, char32_t(c));
    append_padded(out_, Str(character), conversion.width, conversion.left ? '<' : '>');
  }

  void write_number(const Conversion& conversion, std::string digits) {
    if (!digits.starts_with('-')) {
      if (conversion.plus) {
        digits = "+" + digits;
      } else if (conversion.blank) {
        digits = " " + digits;
      }
    }
    const bool zeros = conversion.zero && !conversion.left;
    append_padded(out_, Str(digits), conversion.width,
                  conversion.left ? '<'
                  : zeros         ? '='
                                  : '>',
                  zeros ? "0" : " ");
  }

  void write_integer(const Conversion& conversion, const Value& value) {
    const bool decimal = std::string_view("diu").find(conversion.type) != std::string_view::npos;
    if (!value.is_integral() && !(decimal && value.is_float()))
      runtime_.fail(fmt::format("%{} format: {} is required, not {}", conversion.type,
                                decimal ? "a real number" : "an integer", type_name(value)));
    if (value.is_float() && !(std::abs(value.number()) < 0x1p63))
      runtime_.fail("cannot convert float to integer");
    const int64_t number = value.is_float() ? int64_t(value.number()) : value.integer();
    const int base = decimal ? 10 : conversion.type == 'o' ? 8 : 16;
    std::string digits = format_integer(number, base);
    const size_t sign = digits.starts_with('-') ? 1 : 0;
    const int64_t missing = conversion.precision - int64_t(digits.size() - sign);
    if (missing > 0) {
      if (missing > 100'000) runtime_.fail_limit("a number of more than 100000 digits");
      digits.insert(sign, size_t(missing), '0');
    }
    if (conversion.alternate && base != 10) digits.insert(sign, base == 8 ? "0o" : "0x");
    if (conversion.type == 'X') std::transform(digits.begin(), digits.end(), digits.begin(), ::toupper);
    write_number(conversion, digits);
  }

  void write_float(const Conversion& conversion, const Value& value) {
    require_defined(runtime_, value);
    if (!value.is_number()) runtime_.fail(fmt::format("must be real number, not {}", type_name(value)));
    const int64_t precision = conversion.precision < 0 ? 6 : conversion.precision;
    write_number(conversion,
                 format_float(runtime_, value.number(), conversion.type, precision, conversion.alternate));
  }

  Runtime& runtime_;
  const Str& text_;
  const Value& arguments_;
  TextBuilder out_;
  size_t at_ = 0, next_ = 0;
};

}  // namespace

StrPtr format_percent(Runtime& runtime, const Str& text, const Value& arguments) {
  return PercentFormatter(runtime, text, arguments).run();
}

}  // namespace minfer::chat::jinja
