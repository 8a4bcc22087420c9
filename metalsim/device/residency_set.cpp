#include "device/residency_set.h"

#include <algorithm>

#include "objc/class_builder.h"
#include "objc/misuse.h"

namespace metalsim::device {
namespace {

auto find(const std::vector<Ref<Allocation>>& list, const Object* wanted) {
  return std::find_if(list.begin(), list.end(), [&](const auto& item) { return item.get() == wanted; });
}

}  // namespace

void ResidencySet::add(Object* object) {
  auto* const allocation = dynamic_cast<Allocation*>(object);
  if (!allocation) {
    report_misuse("ResidencySet::addAllocation: " + (object ? object->describe() : "null") +
                  " is no buffer or heap");
    return;
  }
  std::lock_guard lock(mutex_);
  if (find(staged_, allocation) != staged_.end()) return;
  staged_.emplace_back(allocation);
  changed_ = true;
}

void ResidencySet::add_all(Object* const* allocations, UInteger count) {
  for (UInteger i = 0; i < count; ++i) add(allocations[i]);
}

void ResidencySet::remove(Object* allocation) {
  std::lock_guard lock(mutex_);
  const auto found = find(staged_, allocation);
  if (found == staged_.end()) return;
  staged_.erase(found);
  changed_ = true;
}

void ResidencySet::remove_all_of(Object* const* allocations, UInteger count) {
  for (UInteger i = 0; i < count; ++i) remove(allocations[i]);
}

void ResidencySet::remove_everything() {
  std::lock_guard lock(mutex_);
  changed_ = changed_ || !staged_.empty();
  staged_.clear();
}

void ResidencySet::commit() {
  std::lock_guard lock(mutex_);
  committed_ = staged_;
  changed_ = false;
}

bool ResidencySet::contains(Object* allocation) const {
  std::lock_guard lock(mutex_);
  return find(staged_, allocation) != staged_.end();
}

UInteger ResidencySet::count() const {
  std::lock_guard lock(mutex_);
  return staged_.size();
}

Object* ResidencySet::all() const {
  auto* const list = objc::make_autoreleased<Array>();
  std::lock_guard lock(mutex_);
  for (const auto& item : staged_) list->items.emplace_back(item.get());
  return list;
}

uint64_t ResidencySet::allocated_size() const {
  std::lock_guard lock(mutex_);
  uint64_t bytes = 0;
  for (const auto& item : committed_) bytes += item->allocated_size();
  return bytes;
}

void ResidencySet::request_residency() { check_committed("requestResidency"); }

void ResidencySet::check_committed(const char* user) const {
  std::lock_guard lock(mutex_);
  if (changed_)
    report_misuse(std::string(user) + ": " + describe() +
                  " has changes that were not committed; call its commit() first");
}

Object* Device::new_residency_set(Object* object, Error** error) {
  if (error) *error = nullptr;
  const auto* const descriptor = dynamic_cast<ResidencySetDescriptor*>(object);
  if (!descriptor) {
    report_misuse("newResidencySet: the descriptor is null");
    return nullptr;
  }
  auto* const set = objc::make<ResidencySet>(this);
  set->label = descriptor->label;
  return set;
}

void register_residency_set_classes() {
  objc::ClassBuilder<ResidencySetDescriptor>()
      .creatable()
      .copyable()
      .method<&ResidencySetDescriptor::get_label>("label")
      .method<&ResidencySetDescriptor::set_label>("setLabel:")
      .method<&ResidencySetDescriptor::initial_capacity>("initialCapacity")
      .method<&ResidencySetDescriptor::set_initial_capacity>("setInitialCapacity:");
  objc::ClassBuilder<ResidencySet>()
      .method<&ResidencySet::device>("device")
      .method<&ResidencySet::get_label>("label")
      .method<&ResidencySet::set_label>("setLabel:")
      .method<&ResidencySet::add>("addAllocation:")
      .method<&ResidencySet::add_all>("addAllocations:count:")
      .method<&ResidencySet::remove>("removeAllocation:")
      .method<&ResidencySet::remove_all_of>("removeAllocations:count:")
      .method<&ResidencySet::remove_everything>("removeAllAllocations")
      .method<&ResidencySet::commit>("commit")
      .method<&ResidencySet::contains>("containsAllocation:")
      .method<&ResidencySet::count>("allocationCount")
      .method<&ResidencySet::all>("allAllocations")
      .method<&ResidencySet::allocated_size>("allocatedSize")
      .method<&ResidencySet::request_residency>("requestResidency")
      .method<&ResidencySet::end_residency>("endResidency");
}

}  // namespace metalsim::device
