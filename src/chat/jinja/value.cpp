#include "chat/jinja/value.h"

#include "chat/jinja/compare.h"
#include "chat/jinja/runtime.h"

namespace minfer::chat::jinja {
namespace {

/// Up to here a dict is searched entry by entry.
constexpr size_t small_dict = 8;
/// Memory of one entry in `entries` and, in large dicts, in the index.
constexpr size_t entry_bytes = sizeof(std::pair<Value, Value>) + 32;

}  // namespace

Items::~Items() { runtime_->release(values_.size() * sizeof(Value)); }

void Items::clear() {
  runtime_->release(values_.size() * sizeof(Value));
  values_.clear();
}

void Items::add(Value value) {
  runtime_->step();
  runtime_->charge(sizeof(Value));
  values_.push_back(std::move(value));
}

size_t Dict::slot_of(const Value& key, size_t hash) const {
  if (entries.size() <= small_dict) {
    for (size_t i = 0; i < entries.size(); ++i)
      if (equal(owner, entries[i].first, key)) return i;
    return entries.size();
  }
  const auto [first, last] = index_.equal_range(hash);
  for (auto it = first; it != last; ++it) {
    owner.step();
    if (equal(owner, entries[it->second].first, key)) return it->second;
  }
  return entries.size();
}

const Value* Dict::find(const Value& key) const {
  const size_t slot = slot_of(key, hash_of(owner, key));
  return slot < entries.size() ? &entries[slot].second : nullptr;
}

const Value* Dict::find(std::string_view key) const {
  const auto matches = [&](const std::pair<Value, Value>& entry) {
    return entry.first.is_string() && entry.first.str().bytes == key;
  };
  if (entries.size() <= small_dict) {
    for (const auto& entry : entries)
      if (matches(entry)) return &entry.second;
    return nullptr;
  }
  const auto [first, last] = index_.equal_range(hash_of(key));
  for (auto it = first; it != last; ++it) {
    owner.step();
    if (matches(entries[it->second])) return &entries[it->second].second;
  }
  return nullptr;
}

void Dict::set(Value key, Value value) {
  const size_t hash = hash_of(owner, key), slot = slot_of(key, hash);
  if (slot < entries.size()) {
    entries[slot].second = std::move(value);
    return;
  }
  owner.step();
  owner.charge(entry_bytes);
  entries.emplace_back(std::move(key), std::move(value));
  if (entries.size() == small_dict + 1) {
    for (size_t i = 0; i < small_dict; ++i) index_.emplace(hash_of(owner, entries[i].first), uint32_t(i));
  }
  if (entries.size() > small_dict) index_.emplace(hash, uint32_t(slot));
}

int64_t Range::length() const {
  // In unsigned arithmetic: the span may not fit a signed number.
  if (step > 0)
    return start < stop ? int64_t((uint64_t(stop) - uint64_t(start) - 1) / uint64_t(step) + 1) : 0;
  return start > stop ? int64_t((uint64_t(start) - uint64_t(stop) - 1) / (0 - uint64_t(step)) + 1) : 0;
}

std::string_view type_name(const Value& value) {
  if (value.is_none()) return "NoneType";
  if (value.is_undefined()) return "Undefined";
  if (value.is_bool()) return "bool";
  if (value.is_int()) return "int";
  if (value.is_float()) return "float";
  if (value.is_string()) return value.str().markup ? "Markup" : "str";
  switch (value.object()->type) {
    case ObjectType::list:
      return "list";
    case ObjectType::tuple:
      return "tuple";
    case ObjectType::dict:
      return "dict";
    case ObjectType::name_space:
      return "Namespace";
    case ObjectType::range:
      return "range";
    case ObjectType::view:
      return "dict view";
    case ObjectType::iterator:
      return "generator";
    case ObjectType::macro:
      return "Macro";
    case ObjectType::function:
      return "function";
    case ObjectType::loop:
      return "LoopContext";
    case ObjectType::cycler:
      return "Cycler";
    case ObjectType::joiner:
      return "Joiner";
  }
  return "object";
}

bool truthy(const Value& value) {
  if (value.is_none() || value.is_undefined()) return false;
  if (value.is_integral()) return value.integer() != 0;
  if (value.is_float()) return value.number() != 0;  // a NaN is true, as in Python
  if (value.is_string()) return !value.str().bytes.empty();
  if (const auto* list = value.as<List>()) return list->items.size() > 0;
  if (const auto* dict = value.as<Dict>()) return !dict->entries.empty();
  if (const auto* view = value.as<View>()) return !view->dict->entries.empty();
  if (const auto* range = value.as<Range>()) return range->length() > 0;
  return true;
}

}  // namespace minfer::chat::jinja
