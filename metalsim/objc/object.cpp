#include "objc/object.h"

#include <cstdio>
#include <deque>
#include <map>
#include <mutex>
#include <unordered_map>

#include "objc/class_builder.h"
#include "objc/misuse.h"
#include "objc/tombstone.h"

namespace metalsim::objc {
namespace {

/// Objects alive, in the order of their creation.
struct Census {
  std::mutex mutex;
  std::map<uint64_t, Object*> by_age;
  std::unordered_map<const Object*, uint64_t> age_of;
  uint64_t next_age = 0;
};

Census& census() {
  static auto* const instance = new Census;  // never destroyed: objects may outlive static destructors
  return *instance;
}

void remove_from_census(const Object* object) {
  Census& all = census();
  std::lock_guard lock(all.mutex);
  const auto found = all.age_of.find(object);
  if (found == all.age_of.end()) return;
  all.by_age.erase(found->second);
  all.age_of.erase(found);
}

/// A count that retain and release leave alone.
constexpr int64_t immortal = INT64_MAX / 2;

void destroy(Object* object) {
  remove_from_census(object);
  const std::string epitaph = object->describe();
  void* const storage = dynamic_cast<void*>(object);
  object->~Object();
  bury(storage, epitaph);
}

std::vector<AutoreleasePool*>& pools() {
  thread_local std::vector<AutoreleasePool*> stack;
  return stack;
}

uint64_t this_thread() {
  static std::atomic<uint64_t> next{1};
  thread_local const uint64_t number = next++;
  return number;
}

}  // namespace

std::string Object::describe() const {
  char address[32];
  std::snprintf(address, sizeof address, " (%p)", static_cast<const void*>(this));
  return (isa ? isa->name : "object") + (label.empty() ? "" : " \"" + label + "\"") + address;
}

void retain(Object* object) {
  if (object && object->references.load(std::memory_order_relaxed) != immortal) ++object->references;
}

void release(Object* object) {
  if (!object || object->references.load(std::memory_order_relaxed) == immortal) return;
  if (is_tombstone(object)) {
    report_misuse("over-release: " + object->label +
                  " was released more often than retained; it is already destroyed");
    return;
  }
  if (--object->references == 0) destroy(object);
}

void autorelease(Object* object) {
  if (!object || object->references.load(std::memory_order_relaxed) == immortal) return;
  if (pools().empty()) {
    report_misuse("no autorelease pool: " + object->describe() +
                  " is autoreleased on a thread without an NS::AutoreleasePool and leaks; create a pool "
                  "before the call and "
                  "release it afterwards");
    return;
  }
  pools().back()->add(object);
}

void adopt(Object* object, const ClassInfo* isa) {
  object->isa = isa;
  Census& all = census();
  std::lock_guard lock(all.mutex);
  all.by_age[all.next_age] = object;
  all.age_of[object] = all.next_age++;
}

void make_immortal(Object* object) {
  remove_from_census(object);
  object->references = immortal;
}

std::vector<std::string> living_objects() {
  Census& all = census();
  std::lock_guard lock(all.mutex);
  std::vector<std::string> names;
  for (const auto& [age, object] : all.by_age) names.push_back(object->describe());
  return names;
}

AutoreleasePool::AutoreleasePool() : thread_(this_thread()) { pools().push_back(this); }

AutoreleasePool::~AutoreleasePool() {
  if (thread_ != this_thread()) {
    report_misuse(
        "autorelease pool released on another thread than the one that created it; its objects are released "
        "there");
    drain();
    return;
  }
  auto& stack = pools();
  while (!stack.empty()) {  // pools that were created later and never released go first
    AutoreleasePool* const top = stack.back();
    top->drain();
    stack.pop_back();
    if (top == this) break;
  }
}

void AutoreleasePool::drain() {
  while (!objects_.empty()) {  // a destructor may autorelease more
    std::vector<Object*> batch;
    batch.swap(objects_);
    for (Object* object : batch) release(object);
  }
}

}  // namespace metalsim::objc
