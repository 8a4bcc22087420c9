#include <mutex>

#include "abi.h"

namespace metalsim {

namespace {
// Function statics: kernel files register from static constructors, before or after this file's own.
std::mutex& registry_mutex() {
  static std::mutex mutex;
  return mutex;
}
KernelUnit*& head() {
  static KernelUnit* units = nullptr;
  return units;
}
}  // namespace

KernelUnit* kernel_units() {
  std::lock_guard lock(registry_mutex());
  return head();
}

void register_unit(KernelUnit* unit) {
  std::lock_guard lock(registry_mutex());
  unit->next = head();
  head() = unit;
}

void unregister_unit(KernelUnit* unit) {
  std::lock_guard lock(registry_mutex());
  for (KernelUnit** link = &head(); *link; link = &(*link)->next)
    if (*link == unit) {
      *link = unit->next;
      return;
    }
}

}  // namespace metalsim
