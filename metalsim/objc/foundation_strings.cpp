// NSString, NSNumber, NSURL, NSError.
#include <strings.h>
#include <cstdio>
#include <cstdlib>

#include <map>
#include <mutex>

#include "objc/class_builder.h"
#include "objc/foundation.h"
#include "objc/misuse.h"

namespace metalsim::objc {
namespace {

// NS::StringEncoding
constexpr UInteger ascii = 1;
constexpr UInteger utf8 = 4;
constexpr Integer not_found = INTPTR_MAX;

bool check_encoding(UInteger encoding, const char* where) {
  if (encoding == ascii || encoding == utf8) return true;
  report_misuse(std::string("NS::String: ") + where + " with encoding " + std::to_string(encoding) +
                "; the simulator has UTF-8 (4) and ASCII (1) only");
  return false;
}

/// The UTF-16 units of UTF-8 text. Bytes that are no UTF-8 count one unit each.
std::vector<uint16_t> to_utf16(const std::string& text) {
  std::vector<uint16_t> units;
  for (size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const size_t length = lead < 0x80 ? 1 : lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
    if (length == 1 || i + length > text.size()) {
      units.push_back(lead);
      ++i;
      continue;
    }
    uint32_t point = lead & (0xFFu >> (length + 1));
    for (size_t k = 1; k < length; ++k) point = point << 6 | (static_cast<unsigned char>(text[i + k]) & 0x3F);
    if (point >= 0x10000) {
      units.push_back(static_cast<uint16_t>(0xD800 + ((point - 0x10000) >> 10)));
      units.push_back(static_cast<uint16_t>(0xDC00 + ((point - 0x10000) & 0x3FF)));
    } else {
      units.push_back(static_cast<uint16_t>(point));
    }
    i += length;
  }
  return units;
}

}  // namespace

String* string_from(std::string text) { return make_autoreleased<String>(std::move(text)); }

Ref<String> make_string(std::string text) { return Ref<String>::adopt(make<String>(std::move(text))); }

std::string to_std(const String* string) { return string ? string->text : std::string(); }

String* String::empty() { return string_from(""); }
String* String::from_string(String* other) { return string_from(to_std(other)); }

String* String::from_c_string(const char* characters, UInteger encoding) {
  if (!characters || !check_encoding(encoding, "string()")) return nullptr;
  return string_from(characters);
}

String* String::constant(const char* characters) {
  static std::mutex mutex;
  static auto* const all = new std::map<std::string, String*>;
  std::lock_guard lock(mutex);
  String*& string = (*all)[characters];
  if (!string) {
    string = make<String>(characters);
    make_immortal(string);
  }
  return string;
}

Object* String::init_with_string(String* other) {
  text = to_std(other);
  return this;
}

Object* String::init_with_c_string(const char* characters, UInteger encoding) {
  if (!characters || !check_encoding(encoding, "init()")) return nullptr;
  text = characters;
  return this;
}

Object* String::init_with_bytes_no_copy(void* bytes, UInteger length, UInteger encoding, bool free_buffer) {
  if (!bytes || !check_encoding(encoding, "init()")) return nullptr;
  text.assign(static_cast<const char*>(bytes), length);
  if (free_buffer) std::free(bytes);  // a copy was made, so the buffer can go at once
  return this;
}

const char* String::c_string(UInteger encoding) const {
  return check_encoding(encoding, "cString()") ? text.c_str() : nullptr;
}

UInteger String::length() const { return to_utf16(text).size(); }

UInteger String::length_of_bytes(UInteger encoding) const {
  return check_encoding(encoding, "lengthOfBytes()") ? text.size() : 0;
}

UInteger String::maximum_length_of_bytes(UInteger encoding) const {
  return encoding == ascii ? length() : length() * 3;  // three bytes of UTF-8 for one unit of UTF-16 at most
}

uint16_t String::character(UInteger index) const {
  const auto units = to_utf16(text);
  if (index < units.size()) return units[index];
  report_misuse("NS::String::character(" + std::to_string(index) + ") of a string of length " +
                std::to_string(units.size()));
  return 0;
}

bool String::is_equal(Object* other) const {
  const auto* const string = dynamic_cast<String*>(other);
  return string && string->text == text;
}

Range String::range_of_string(String* part, UInteger options) const {
  constexpr UInteger case_insensitive = 1, literal = 2, backwards = 4;
  if (options & ~(case_insensitive | literal | backwards)) {
    report_misuse(
        "NS::String::rangeOfString: only CaseInsensitive, Literal and Backwards searches are there");
  }
  std::string in = text, what = to_std(part);
  if (options & case_insensitive) {
    for (std::string* s : {&in, &what})
      for (char& c : *s)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  const size_t at = what.empty() ? std::string::npos : (options & backwards) ? in.rfind(what) : in.find(what);
  if (at == std::string::npos) return {static_cast<UInteger>(not_found), 0};
  return {to_utf16(text.substr(0, at)).size(), to_utf16(text.substr(at, what.size())).size()};
}

Object* String::appending(String* tail) const { return string_from(text + to_std(tail)); }

Integer String::case_insensitive_compare(String* other) const {
  const int order = strcasecmp(text.c_str(), to_std(other).c_str());
  return order < 0 ? -1 : order > 0 ? 1 : 0;
}

Object* String::autoreleased_self() {
  retain(this);
  autorelease(this);
  return this;
}

Object* String::copy() {
  retain(this);
  return this;
}

bool Number::is_equal(Object* other) const {
  const auto* const number = dynamic_cast<Number*>(other);
  return number && compare(const_cast<Number*>(number)) == 0;
}

Integer Number::compare(Number* other) const {
  if (!other) return 1;
  const auto order = [](auto a, auto b) -> Integer { return a < b ? -1 : a > b ? 1 : 0; };
  return std::visit(
      [&](auto a, auto b) -> Integer {
        if constexpr (std::is_same_v<decltype(a), decltype(b)>)
          return order(a, b);
        else if constexpr (std::is_floating_point_v<decltype(a)> || std::is_floating_point_v<decltype(b)>)
          return order(static_cast<double>(a), static_cast<double>(b));
        else if constexpr (std::is_signed_v<decltype(a)>)
          return a < 0 ? -1 : order(static_cast<uint64_t>(a), b);
        else
          return b < 0 ? 1 : order(a, static_cast<uint64_t>(b));
      },
      value, other->value);
}

Object* Number::string_value() const {
  return std::visit(
      [](auto v) -> Object* {
        if constexpr (std::is_floating_point_v<decltype(v)>) {
          char text[32];
          std::snprintf(text, sizeof text, "%.17g", v);
          return string_from(text);
        } else {
          return string_from(std::to_string(v));
        }
      },
      value);
}

Object* Number::copy() {
  retain(this);
  return this;
}

Url* Url::file_url_with_path(String* file) { return file ? make_autoreleased<Url>(file->text) : nullptr; }

Object* Url::init_with_string(String* url) {
  const std::string text = to_std(url);
  const std::string scheme = "file://";
  if (text.compare(0, scheme.size(), scheme) != 0) {
    report_misuse("NS::URL::init(\"" + text + "\"): only file URLs are there; begin with file://");
    release(this);
    return nullptr;
  }
  path = text.substr(scheme.size());
  return this;
}

Object* Url::init_file_url_with_path(String* file) {
  path = to_std(file);
  return this;
}

Object* Url::path_string() const { return string_from(path); }

Object* Url::copy() {
  retain(this);
  return this;
}

}  // namespace metalsim::objc
