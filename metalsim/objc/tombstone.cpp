#include "objc/tombstone.h"

#include <deque>
#include <mutex>
#include <new>

#include "objc/class_builder.h"

namespace metalsim::objc {
namespace {

/// So many destroyed objects are remembered. An object takes a few hundred bytes, so the graveyard stays
/// within a few megabytes; a message to an object destroyed earlier than that is undefined, as on a device.
constexpr size_t graveyard_size = 16384;

const ClassInfo* tombstone_class() {
  static const auto* const instance = new ClassInfo("destroyed object", nullptr);
  return instance;
}

/// Lies in the memory of the object it stands for, so it must not be larger than the smallest of them.
class Tombstone : public Object {
 public:
  explicit Tombstone(const std::string& epitaph) {
    isa = tombstone_class();
    label = epitaph;
  }
};
static_assert(sizeof(Tombstone) == sizeof(Object));

}  // namespace

bool is_tombstone(const Object* object) { return object->isa == tombstone_class(); }

void bury(void* storage, const std::string& epitaph) {
  static std::mutex mutex;
  static auto* const graveyard = new std::deque<Tombstone*>;
  std::lock_guard lock(mutex);
  graveyard->push_back(new (storage) Tombstone(epitaph));
  if (graveyard->size() <= graveyard_size) return;
  Tombstone* const oldest = graveyard->front();
  graveyard->pop_front();
  oldest->~Tombstone();
  ::operator delete(oldest);
}

}  // namespace metalsim::objc
