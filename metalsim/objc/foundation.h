// The Foundation classes a Metal host program touches. All are immutable but AutoreleasePool, as in
// Foundation.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "objc/object.h"

namespace metalsim::objc {

using UInteger = uintptr_t;
using Integer = intptr_t;

/// The same layout as NS::Range.
struct Range {
  UInteger location;
  UInteger length;
};

/// UTF-8 text. Encodings other than ASCII and UTF-8 are refused, since nothing here would convert them.
class String : public Object {
 public:
  static constexpr const char* class_name = "NSString";
  String() = default;
  explicit String(std::string initial) : text(std::move(initial)) {}

  static String* empty();
  static String* from_string(String* other);
  static String* from_c_string(const char* characters, UInteger encoding);
  static String* constant(const char* characters);  // one for each text, never destroyed
  Object* init_with_string(String* other);
  Object* init_with_c_string(const char* characters, UInteger encoding);
  Object* init_with_bytes_no_copy(void* bytes, UInteger length, UInteger encoding, bool free_buffer);

  const char* utf8() const { return text.c_str(); }
  const char* c_string(UInteger encoding) const;
  UInteger length() const;  // in UTF-16 units, as Foundation counts
  UInteger length_of_bytes(UInteger encoding) const;
  UInteger maximum_length_of_bytes(UInteger encoding) const;
  uint16_t character(UInteger index) const;
  bool is_equal_to_string(String* other) const { return other && other->text == text; }
  bool is_equal(Object* other) const;
  UInteger hash() const { return std::hash<std::string>()(text); }
  Range range_of_string(String* part, UInteger options) const;
  Object* appending(String* tail) const;
  Integer case_insensitive_compare(String* other) const;
  Object* description() { return autoreleased_self(); }
  Object* copy();

  std::string text;

 private:
  Object* autoreleased_self();
};

class Array : public Object {
 public:
  static constexpr const char* class_name = "NSArray";

  static Array* empty();
  static Array* with_object(Object* object);
  static Array* with_objects(Object* const* objects, UInteger count);
  Object* init_with_objects(Object* const* objects, UInteger count);
  Object* object_at(UInteger index) const;
  UInteger count() const { return items.size(); }
  Object* enumerator();
  Object* copy();

  std::vector<Ref<Object>> items;
};

class Enumerator : public Object {
 public:
  static constexpr const char* class_name = "NSEnumerator";
  explicit Enumerator(std::vector<Ref<Object>> items) : items_(std::move(items)) {}

  Object* next_object();
  Object* all_objects();

 private:
  std::vector<Ref<Object>> items_;
  size_t next_ = 0;
};

/// Keys are compared by `isEqual:` of strings and numbers, others by identity.
class Dictionary : public Object {
 public:
  static constexpr const char* class_name = "NSDictionary";

  static Dictionary* empty();
  static Dictionary* with_object(Object* object, Object* key);
  static Dictionary* with_objects(Object* const* objects, Object* const* keys, UInteger count);
  Object* init_with_objects(Object* const* objects, Object* const* keys, UInteger count);
  Object* object_for(Object* key) const;
  UInteger count() const { return entries.size(); }
  Object* key_enumerator();
  Object* copy();

  void set(Object* object, Object* key);

  struct Entry {
    Ref<Object> key;
    Ref<Object> value;
  };
  std::vector<Entry> entries;
};

class Number : public Object {
 public:
  static constexpr const char* class_name = "NSNumber";
  using Value = std::variant<int64_t, uint64_t, double>;
  Number() = default;
  explicit Number(Value initial) : value(initial) {}

  template <class T>
  static Number* number(T initial) {
    return make_autoreleased<Number>(widen(initial));
  }
  template <class T>
  Object* init(T initial) {
    value = widen(initial);
    return this;
  }
  template <class T>
  T as() const {
    return std::visit([](auto v) { return static_cast<T>(v); }, value);
  }
  bool as_bool() const { return as<double>() != 0; }
  bool is_equal(Object* other) const;
  Integer compare(Number* other) const;
  UInteger hash() const { return as<uint64_t>(); }
  Object* string_value() const;
  Object* copy();

  Value value = int64_t{0};

 private:
  template <class T>
  static Value widen(T v) {
    if constexpr (std::is_floating_point_v<T>)
      return static_cast<double>(v);
    else if constexpr (std::is_signed_v<T>)
      return static_cast<int64_t>(v);
    else
      return static_cast<uint64_t>(v);
  }
};

/// File URLs only.
class Url : public Object {
 public:
  static constexpr const char* class_name = "NSURL";
  Url() = default;
  explicit Url(std::string file) : path(std::move(file)) {}

  static Url* file_url_with_path(String* file);
  Object* init_with_string(String* url);
  Object* init_file_url_with_path(String* path);
  const char* file_system_representation() const { return path.c_str(); }
  Object* path_string() const;
  Object* copy();

  std::string path;
};

class Data : public Object {
 public:
  static constexpr const char* class_name = "NSData";

  void* mutable_bytes() { return bytes.data(); }
  UInteger length() const { return bytes.size(); }

  std::vector<std::byte> bytes;
};

/// A code in a domain, with texts under the keys that Foundation uses.
class Error : public Object {
 public:
  static constexpr const char* class_name = "NSError";
  Error() = default;
  Error(std::string domain, Integer code, std::string description, std::string suggestion = {});

  static Error* error(String* domain, Integer code, Dictionary* info);
  Object* init_with_domain(String* domain, Integer code, Dictionary* info);
  Integer code() const { return code_; }
  Object* domain() const;
  Object* user_info() const { return info_.get(); }
  Object* localized_description() const;
  Object* localized_failure_reason() const;
  Object* localized_recovery_suggestion() const;
  Object* localized_recovery_options() const { return nullptr; }
  Object* copy();

  /// The text under a user-info key; empty if there is none.
  std::string text(std::string_view key) const;

 private:
  std::string domain_;
  Integer code_ = 0;
  Ref<Dictionary> info_;
};

/// The folder of the running program, which is where a command-line program on macOS has its resources as
/// well.
class Bundle : public Object {
 public:
  static constexpr const char* class_name = "NSBundle";

  static Bundle* main_bundle();
  static Bundle* with_path(String* path);
  Object* init_with_path(String* path);
  Object* bundle_path() const;
  Object* bundle_url() const;
  Object* executable_path() const;
  Object* executable_url() const;
  Object* bundle_identifier() const { return nullptr; }
  Object* object_for_info_key(String*) const { return nullptr; }

  std::string folder;
};

/// The same layout as NS::OperatingSystemVersion.
struct OperatingSystemVersion {
  Integer major;
  Integer minor;
  Integer patch;
};

class ProcessInfo : public Object {
 public:
  static constexpr const char* class_name = "NSProcessInfo";

  static ProcessInfo* shared();
  Object* arguments() const;
  Object* environment() const;
  Object* host_name() const;
  Object* process_name() const;
  int process_identifier() const;
  UInteger processor_count() const;
  unsigned long long physical_memory() const;
  double system_uptime() const;
  Object* operating_system_version_string() const;
  OperatingSystemVersion operating_system_version() const;
  bool is_at_least(OperatingSystemVersion version) const;
  bool is_low_power_mode_enabled() const { return false; }
  Integer thermal_state() const { return 0; }
};

/// An autoreleased string, and one that the caller owns.
String* string_from(std::string text);
Ref<String> make_string(std::string text);

/// The text of a string that may be null.
std::string to_std(const String* string);

/// Where the caller gave a place for an error: puts an autoreleased error there.
void set_error(Error** place, const char* domain, Integer code, const std::string& description,
               const std::string& suggestion = {});

/// Registers NSObject and all classes of this file.
void register_foundation_classes();

}  // namespace metalsim::objc
