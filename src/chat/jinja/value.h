#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "chat/jinja/text.h"

namespace minfer::chat::jinja {

struct Object;

struct None {};
/// What a missing name or attribute gives: prints as nothing, is false, and fails in most operations with its
/// message.
struct Undefined {
  std::shared_ptr<const std::string> message;
};

/// Any value of the language. Numbers and strings are values; the rest are objects of the Runtime's arena,
/// which lives until the rendering ends: so values may form cycles, and nothing is destroyed recursively.
class Value {
 public:
  Value() = default;  ///< none
  Value(Undefined undefined) : data_(std::move(undefined)) {}
  Value(bool boolean) : data_(boolean) {}
  Value(int64_t integer) : data_(integer) {}
  Value(double number) : data_(number) {}
  Value(StrPtr str) : data_(std::move(str)) {}
  template <class T>
  requires std::is_base_of_v<Object, T> Value(T* object) : data_(static_cast<Object*>(object)) {}
  Value(int) = delete;          // write int64_t(…)
  Value(const void*) = delete;  // would become a bool

  bool is_none() const { return std::holds_alternative<None>(data_); }
  bool is_undefined() const { return std::holds_alternative<Undefined>(data_); }
  bool is_bool() const { return std::holds_alternative<bool>(data_); }
  bool is_int() const { return std::holds_alternative<int64_t>(data_); }  ///< without booleans
  bool is_float() const { return std::holds_alternative<double>(data_); }
  bool is_string() const { return std::holds_alternative<StrPtr>(data_); }
  bool is_object() const { return std::holds_alternative<Object*>(data_); }
  /// Integers and booleans, which count as 0 and 1.
  bool is_integral() const { return is_int() || is_bool(); }
  bool is_number() const { return is_integral() || is_float(); }

  bool boolean() const { return std::get<bool>(data_); }
  int64_t integer() const { return is_bool() ? int64_t(boolean()) : std::get<int64_t>(data_); }
  double number() const { return is_float() ? std::get<double>(data_) : double(integer()); }
  const Str& str() const { return *std::get<StrPtr>(data_); }
  const StrPtr& str_pointer() const { return std::get<StrPtr>(data_); }
  const Undefined& undefined() const { return std::get<Undefined>(data_); }
  Object* object() const { return std::get<Object*>(data_); }

  /// The object as a T, null if it is none.
  template <class T>
  T* as() const;

 private:
  std::variant<None, Undefined, bool, int64_t, double, StrPtr, Object*> data_;
};

/// What an object is, also for messages: see type_name.
enum class ObjectType : uint8_t {
  list,
  tuple,
  dict,
  name_space,
  range,
  view,
  iterator,
  macro,
  function,
  loop,
  cycler,
  joiner
};

struct Object {
  explicit Object(ObjectType object_type) : type(object_type) {}
  virtual ~Object() = default;
  const ObjectType type;
};

/// Values in a row whose memory is counted as it grows.
class Items {
 public:
  explicit Items(Runtime& runtime) : runtime_(&runtime) {}
  Items(Items&& other) noexcept : runtime_(other.runtime_), values_(std::move(other.values_)) {
    other.values_.clear();
  }
  Items& operator=(Items&&) = delete;
  ~Items();
  void add(Value value);
  void clear();
  std::vector<Value>& values() { return values_; }
  const std::vector<Value>& values() const { return values_; }
  size_t size() const { return values_.size(); }
  const Value& operator[](size_t i) const { return values_[i]; }
  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }

 private:
  Runtime* runtime_;
  std::vector<Value> values_;
};

/// A list or a tuple.
struct List : Object {
  List(ObjectType object_type, Items values) : Object(object_type), items(std::move(values)) {}
  static bool is(ObjectType type) { return type == ObjectType::list || type == ObjectType::tuple; }
  Items items;
  bool trusted = true;    ///< false: came with a message, so the punctuation it prints with is untrusted too
  bool is_group = false;  ///< of `groupby`: its two items are also named `grouper` and `list`
};

/// Keys in the order they were added, as Python's.
struct Dict : Object {
  explicit Dict(Runtime& runtime) : Object(ObjectType::dict), owner(runtime) {}
  static bool is(ObjectType type) { return type == ObjectType::dict; }
  /// Throws for keys that cannot be hashed. Numbers that are equal are one key, as in Python.
  const Value* find(const Value& key) const;
  const Value* find(std::string_view key) const;
  void set(Value key, Value value);
  Runtime& owner;
  std::vector<std::pair<Value, Value>> entries;
  bool trusted = true;  ///< see List::trusted

 private:
  size_t slot_of(const Value& key, size_t hash) const;
  std::unordered_multimap<size_t, uint32_t> index_;  ///< of large dicts: hash of the key to the entry
};

/// `namespace(...)`: the one object a template may change.
struct Namespace : Object {
  explicit Namespace(Dict* dict) : Object(ObjectType::name_space), attributes(dict) {}
  static bool is(ObjectType type) { return type == ObjectType::name_space; }
  Dict* attributes;
};

struct Range : Object {
  Range(int64_t first, int64_t last, int64_t by)
      : Object(ObjectType::range), start(first), stop(last), step(by) {}
  static bool is(ObjectType type) { return type == ObjectType::range; }
  int64_t length() const;
  int64_t at(int64_t i) const { return int64_t(uint64_t(start) + uint64_t(i) * uint64_t(step)); }
  int64_t start, stop, step;
};

/// dict.items(), dict.keys(), dict.values().
struct View : Object {
  enum class Part { keys, values, items };
  View(Dict* of, Part which) : Object(ObjectType::view), dict(of), part(which) {}
  static bool is(ObjectType type) { return type == ObjectType::view; }
  Dict* dict;
  Part part;
};

/// What is consumed by going over it once: the results of map, select, reverse and so on.
struct Iterator : Object {
  explicit Iterator(Items values) : Object(ObjectType::iterator), items(std::move(values)) {}
  static bool is(ObjectType type) { return type == ObjectType::iterator; }
  Items items;
  size_t next = 0;
};

/// What a call passes.
struct Arguments {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> named;
};

/// A built-in function, or a method bound to `self`.
struct Function : Object {
  using Code = Value (*)(Runtime&, const Value& self, const Arguments&);
  Function(std::string_view function_name, Code function_code, Value bound_to)
      : Object(ObjectType::function), name(function_name), code(function_code), self(std::move(bound_to)) {}
  static bool is(ObjectType type) { return type == ObjectType::function; }
  std::string name;
  Code code;
  Value self;
};

struct Cycler : Object {
  explicit Cycler(Items values) : Object(ObjectType::cycler), items(std::move(values)) {}
  static bool is(ObjectType type) { return type == ObjectType::cycler; }
  Items items;
  size_t position = 0;
};

struct Joiner : Object {
  explicit Joiner(StrPtr text) : Object(ObjectType::joiner), separator(std::move(text)) {}
  static bool is(ObjectType type) { return type == ObjectType::joiner; }
  StrPtr separator;
  bool used = false;
};

struct ForStatement;
struct Scope;

/// `loop` inside a for.
struct Loop : Object {
  explicit Loop(Items values) : Object(ObjectType::loop), items(std::move(values)) {}
  static bool is(ObjectType type) { return type == ObjectType::loop; }
  Items items;
  size_t index0 = 0;
  int64_t depth0 = 0;
  std::vector<Value> last_changed;
  bool changed_called = false;
  const ForStatement* recursive = nullptr;  ///< set: the loop may be called with other items
  Scope* scope = nullptr;                   ///< where the for stands
};

template <class T>
T* Value::as() const {
  const auto* object = std::get_if<Object*>(&data_);
  return object && T::is((*object)->type) ? static_cast<T*>(*object) : nullptr;
}

/// Python's name of the value's type.
std::string_view type_name(const Value& value);
bool truthy(const Value& value);

}  // namespace minfer::chat::jinja
