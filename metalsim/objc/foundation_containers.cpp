// NSArray, NSEnumerator, NSDictionary, NSError.
#include "objc/class_builder.h"
#include "objc/foundation.h"
#include "objc/misuse.h"

namespace metalsim::objc {
namespace {

bool same_key(Object* a, Object* b) {
  if (a == b) return true;
  if (const auto* const string = dynamic_cast<String*>(a)) return string->is_equal(b);
  if (const auto* const number = dynamic_cast<Number*>(a)) return number->is_equal(b);
  return false;
}

}  // namespace

Array* Array::empty() { return make_autoreleased<Array>(); }
Array* Array::with_object(Object* object) { return with_objects(&object, 1); }

Array* Array::with_objects(Object* const* objects, UInteger count) {
  auto* const array = make_autoreleased<Array>();
  array->init_with_objects(objects, count);
  return array;
}

Object* Array::init_with_objects(Object* const* objects, UInteger count) {
  for (UInteger i = 0; i < count; ++i) {
    if (objects[i]) {
      items.emplace_back(objects[i]);
    } else {
      report_misuse("NS::Array: object " + std::to_string(i) + " of " + std::to_string(count) +
                    " is null; left out");
    }
  }
  return this;
}

Object* Array::object_at(UInteger index) const {
  if (index < items.size()) return items[index].get();
  report_misuse("NS::Array::object(" + std::to_string(index) + ") of an array of " +
                std::to_string(items.size()));
  return nullptr;
}

Object* Array::enumerator() { return make_autoreleased<Enumerator>(items); }

Object* Array::copy() {
  retain(this);
  return this;
}

Object* Enumerator::next_object() { return next_ < items_.size() ? items_[next_++].get() : nullptr; }

Object* Enumerator::all_objects() {
  auto* const rest = make_autoreleased<Array>();
  while (Object* object = next_object()) rest->items.emplace_back(object);
  return rest;
}

Dictionary* Dictionary::empty() { return make_autoreleased<Dictionary>(); }
Dictionary* Dictionary::with_object(Object* object, Object* key) { return with_objects(&object, &key, 1); }

Dictionary* Dictionary::with_objects(Object* const* objects, Object* const* keys, UInteger count) {
  auto* const dictionary = make_autoreleased<Dictionary>();
  dictionary->init_with_objects(objects, keys, count);
  return dictionary;
}

Object* Dictionary::init_with_objects(Object* const* objects, Object* const* keys, UInteger count) {
  for (UInteger i = 0; i < count; ++i) set(objects[i], keys[i]);
  return this;
}

void Dictionary::set(Object* object, Object* key) {
  if (!object || !key) {
    report_misuse("NS::Dictionary: a null key or object; left out");
    return;
  }
  for (Entry& entry : entries) {
    if (same_key(entry.key.get(), key)) {
      entry.value = object;
      return;
    }
  }
  entries.push_back({key, object});
}

Object* Dictionary::object_for(Object* key) const {
  for (const Entry& entry : entries)
    if (same_key(entry.key.get(), key)) return entry.value.get();
  return nullptr;
}

Object* Dictionary::key_enumerator() {
  std::vector<Ref<Object>> keys;
  for (const Entry& entry : entries) keys.push_back(entry.key);
  return make_autoreleased<Enumerator>(std::move(keys));
}

Object* Dictionary::copy() {
  retain(this);
  return this;
}

Error::Error(std::string domain, Integer code, std::string description, std::string suggestion)
    : domain_(std::move(domain)), code_(code), info_(Ref<Dictionary>::adopt(make<Dictionary>())) {
  info_->set(make_string(std::move(description)).get(), make_string("NSLocalizedDescription").get());
  if (!suggestion.empty())
    info_->set(make_string(std::move(suggestion)).get(), make_string("NSLocalizedRecoverySuggestion").get());
}

Error* Error::error(String* domain, Integer code, Dictionary* info) {
  auto* const error = make_autoreleased<Error>();
  error->init_with_domain(domain, code, info);
  return error;
}

Object* Error::init_with_domain(String* domain, Integer code, Dictionary* info) {
  domain_ = to_std(domain);
  code_ = code;
  info_ = info;
  return this;
}

Object* Error::domain() const { return string_from(domain_); }

std::string Error::text(std::string_view key) const {
  if (!info_) return {};
  const Ref<String> name = make_string(std::string(key));
  return to_std(dynamic_cast<String*>(info_->object_for(name.get())));
}

Object* Error::localized_description() const {
  const std::string given = text("NSLocalizedDescription");
  if (!given.empty()) return string_from(given);
  return string_from("The operation couldn't be completed. (" + domain_ + " error " + std::to_string(code_) +
                     ")");
}

Object* Error::localized_failure_reason() const {
  const std::string given = text("NSLocalizedFailureReason");
  return given.empty() ? nullptr : string_from(given);
}

Object* Error::localized_recovery_suggestion() const {
  const std::string given = text("NSLocalizedRecoverySuggestion");
  return given.empty() ? nullptr : string_from(given);
}

Object* Error::copy() {
  retain(this);
  return this;
}

void set_error(Error** place, const char* domain, Integer code, const std::string& description,
               const std::string& suggestion) {
  if (place) *place = make_autoreleased<Error>(domain, code, description, suggestion);
}

}  // namespace metalsim::objc
