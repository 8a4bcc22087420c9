#pragma once
#include <fmt/format.h>

#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chat/jinja/limits.h"
#include "chat/jinja/value.h"

namespace minfer::chat::jinja {

/// Where something stands in a template: a byte of its source.
using Position = uint32_t;

/// "line 3, column 7" (from 1, columns in characters) of a byte of `source`.
std::string describe_position(std::string_view source, Position at);

/// Throws Error{bad_model} for a template that breaks a rule at `at`.
[[noreturn]] void fail_at(std::string_view source, Position at, const std::string& message);

/// What one rendering uses: its memory, its limits, and where in the template it is.
class Runtime {
 public:
  Runtime(std::string_view source, const Limits& limits, std::optional<std::time_t> now)
      : source_(source), limits_(limits), now_(now) {}
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  const Limits& limits() const { return limits_; }
  std::optional<std::time_t> now() const { return now_; }

  /// What is being evaluated; the position that errors name.
  void set_position(Position at) { at_ = at; }
  Position position() const { return at_; }
  [[noreturn]] void fail(const std::string& message) const;
  /// "the template would need WHAT".
  [[noreturn]] void fail_limit(const std::string& what) const;

  void step(size_t count = 1) {
    steps_ += count;
    if (steps_ > limits_.steps) fail_limit(fmt::format("more than {} steps", limits_.steps));
  }
  void charge(size_t bytes) {
    memory_ += bytes;
    if (memory_ > limits_.memory_bytes)
      fail_limit(fmt::format("more than {} bytes of memory", limits_.memory_bytes));
  }
  void release(size_t bytes) { memory_ -= bytes; }

  /// One level of recursion, for as long as it lives.
  class Level {
   public:
    explicit Level(Runtime& runtime) : runtime_(runtime) {
      if (++runtime_.depth_ > runtime_.limits_.depth) {
        --runtime_.depth_;
        runtime_.fail_limit(fmt::format("more than {} nested evaluations", runtime_.limits_.depth));
      }
    }
    ~Level() { --runtime_.depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    Runtime& runtime_;
  };

  /// A new object of the arena.
  template <class T, class... Args>
  T* make(Args&&... args) {
    charge(sizeof(T) + 2 * sizeof(void*));
    auto object = std::make_unique<T>(std::forward<Args>(args)...);
    T* raw = object.get();
    objects_.push_back(std::move(object));
    return raw;
  }
  Value list(Items items) { return make<List>(ObjectType::list, std::move(items)); }
  Value tuple(Items items) { return make<List>(ObjectType::tuple, std::move(items)); }
  Value tuple(std::initializer_list<Value> values);
  Value text(std::string_view bytes, bool trusted = true);
  /// Scopes live in the arena too; they are no values.
  template <class T, class... Args>
  T* keep(Args&&... args) {
    return make<T>(std::forward<Args>(args)...);
  }

 private:
  std::string_view source_;
  Limits limits_;
  std::optional<std::time_t> now_;
  Position at_ = 0;
  size_t steps_ = 0, depth_ = 0, memory_ = 0;
  std::vector<std::unique_ptr<Object>> objects_;
};

inline Value undefined(std::string message) {
  return Undefined{std::make_shared<const std::string>(std::move(message))};
}

}  // namespace minfer::chat::jinja
