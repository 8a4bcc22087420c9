// The selector tables of the Foundation classes.
#include <cstdio>

#include "objc/class_builder.h"
#include "objc/foundation.h"

namespace metalsim::objc {
namespace {

/// What every object answers.
class Root : public Object {
 public:
  static constexpr const char* class_name = "NSObject";

  Object* init() { return this; }
  Object* retain_self() {
    retain(this);
    return this;
  }
  void release_self() { release(this); }
  Object* autorelease_self() {
    autorelease(this);
    return this;
  }
  UInteger retain_count() const { return static_cast<UInteger>(references.load()); }
  UInteger hash() const { return reinterpret_cast<UInteger>(this); }
  bool is_equal(Object* other) const { return other == this; }
  Object* description() const { return string_from(describe()); }
  bool responds_to(const Selector* selector) const { return isa->find(selector) != nullptr; }
  Object* method_signature(const Selector*) const { return nullptr; }
};

Object* allocate(const ClassInfo* cls, const Selector*) {
  if (!cls->allocate) {
    std::fprintf(stderr,
                 "metalsim: %s::alloc(): objects of this class come from a factory method, not from alloc\n",
                 cls->name.c_str());
    return nullptr;
  }
  Object* const object = cls->allocate();
  adopt(object, cls);
  return object;
}

void show_pools() {
  std::fprintf(stderr, "metalsim: objects alive:\n");
  for (const std::string& name : living_objects()) std::fprintf(stderr, "  %s\n", name.c_str());
}

void register_root() {
  ClassBuilder<Root>(nullptr)
      .method<&Root::init>("init")
      .method<&Root::retain_self>("retain")
      .method<&Root::release_self>("release")
      .method<&Root::autorelease_self>("autorelease")
      .method<&Root::retain_count>("retainCount")
      .method<&Root::hash>("hash")
      .method<&Root::is_equal>("isEqual:")
      .method<&Root::description>("description")
      .method<&Root::description>("debugDescription")
      .method<&Root::responds_to>("respondsToSelector:")
      .method<&Root::method_signature>("methodSignatureForSelector:");
  auto* const metaclass = const_cast<ClassInfo*>(find_registered("NSObject")->isa);
  metaclass->methods[intern_selector("alloc")] = reinterpret_cast<Method>(&allocate);
  ClassBuilder<AutoreleasePool>()
      .creatable()
      .class_method<&show_pools>("showPools")
      .method<&AutoreleasePool::add>("addObject:")
      .method<&AutoreleasePool::drain_and_release>("drain");
}

void register_strings() {
  ClassBuilder<String>()
      .creatable()
      .class_method<&String::empty>("string")
      .class_method<&String::from_string>("stringWithString:")
      .class_method<&String::from_c_string>("stringWithCString:encoding:")
      .class_method<&String::constant>("metalsimConstantString:")
      .method<&String::init_with_string>("initWithString:")
      .method<&String::init_with_c_string>("initWithCString:encoding:")
      .method<&String::init_with_bytes_no_copy>("initWithBytesNoCopy:length:encoding:freeWhenDone:")
      .method<&String::character>("characterAtIndex:")
      .method<&String::length>("length")
      .method<&String::utf8>("UTF8String")
      .method<&String::utf8>("fileSystemRepresentation")
      .method<&String::c_string>("cStringUsingEncoding:")
      .method<&String::length_of_bytes>("lengthOfBytesUsingEncoding:")
      .method<&String::maximum_length_of_bytes>("maximumLengthOfBytesUsingEncoding:")
      .method<&String::is_equal_to_string>("isEqualToString:")
      .method<&String::is_equal>("isEqual:")
      .method<&String::hash>("hash")
      .method<&String::range_of_string>("rangeOfString:options:")
      .method<&String::appending>("stringByAppendingString:")
      .method<&String::case_insensitive_compare>("caseInsensitiveCompare:")
      .method<&String::description>("description")
      .method<&String::copy>("copy");
  ClassBuilder<Url>()
      .creatable()
      .class_method<&Url::file_url_with_path>("fileURLWithPath:")
      .method<&Url::init_with_string>("initWithString:")
      .method<&Url::init_file_url_with_path>("initFileURLWithPath:")
      .method<&Url::file_system_representation>("fileSystemRepresentation")
      .method<&Url::path_string>("path")
      .method<&Url::copy>("copy");
}

void register_containers() {
  ClassBuilder<Array>()
      .creatable()
      .class_method<&Array::empty>("array")
      .class_method<&Array::with_object>("arrayWithObject:")
      .class_method<&Array::with_objects>("arrayWithObjects:count:")
      .method<&Array::init_with_objects>("initWithObjects:count:")
      .method<&Array::object_at>("objectAtIndex:")
      .method<&Array::count>("count")
      .method<&Array::enumerator>("objectEnumerator")
      .method<&Array::copy>("copy");
  ClassBuilder<Enumerator>()
      .method<&Enumerator::next_object>("nextObject")
      .method<&Enumerator::all_objects>("allObjects");
  ClassBuilder<Dictionary>()
      .creatable()
      .class_method<&Dictionary::empty>("dictionary")
      .class_method<&Dictionary::with_object>("dictionaryWithObject:forKey:")
      .class_method<&Dictionary::with_objects>("dictionaryWithObjects:forKeys:count:")
      .method<&Dictionary::init_with_objects>("initWithObjects:forKeys:count:")
      .method<&Dictionary::object_for>("objectForKey:")
      .method<&Dictionary::count>("count")
      .method<&Dictionary::key_enumerator>("keyEnumerator")
      .method<&Dictionary::copy>("copy");
  ClassBuilder<Data>().method<&Data::mutable_bytes>("mutableBytes").method<&Data::length>("length");
}

template <class T>
void add_number_type(ClassBuilder<Number>& builder, const std::string& kind, const char* getter) {
  builder.template class_method<&Number::number<T>>(("numberWith" + kind + ":").c_str());
  builder.template method<&Number::init<T>>(("initWith" + kind + ":").c_str());
  builder.template method<&Number::as<T>>(getter);
}

void register_numbers() {
  ClassBuilder<Number> number;
  number.creatable();
  add_number_type<char>(number, "Char", "charValue");
  add_number_type<unsigned char>(number, "UnsignedChar", "unsignedCharValue");
  add_number_type<short>(number, "Short", "shortValue");
  add_number_type<unsigned short>(number, "UnsignedShort", "unsignedShortValue");
  add_number_type<int>(number, "Int", "intValue");
  add_number_type<unsigned int>(number, "UnsignedInt", "unsignedIntValue");
  add_number_type<long>(number, "Long", "longValue");
  add_number_type<unsigned long>(number, "UnsignedLong", "unsignedLongValue");
  add_number_type<long long>(number, "LongLong", "longLongValue");
  add_number_type<unsigned long long>(number, "UnsignedLongLong", "unsignedLongLongValue");
  add_number_type<float>(number, "Float", "floatValue");
  add_number_type<double>(number, "Double", "doubleValue");
  add_number_type<bool>(number, "Bool", "boolValue");
  number.method<&Number::as_bool>("boolValue")
      .method<&Number::as<Integer>>("integerValue")
      .method<&Number::as<UInteger>>("unsignedIntegerValue")
      .method<&Number::is_equal>("isEqual:")
      .method<&Number::is_equal>("isEqualToNumber:")
      .method<&Number::compare>("compare:")
      .method<&Number::hash>("hash")
      .method<&Number::string_value>("stringValue")
      .method<&Number::string_value>("description")
      .method<&Number::copy>("copy");
}

void register_errors_and_process() {
  ClassBuilder<Error>()
      .creatable()
      .class_method<&Error::error>("errorWithDomain:code:userInfo:")
      .method<&Error::init_with_domain>("initWithDomain:code:userInfo:")
      .method<&Error::code>("code")
      .method<&Error::domain>("domain")
      .method<&Error::user_info>("userInfo")
      .method<&Error::localized_description>("localizedDescription")
      .method<&Error::localized_description>("description")
      .method<&Error::localized_failure_reason>("localizedFailureReason")
      .method<&Error::localized_recovery_suggestion>("localizedRecoverySuggestion")
      .method<&Error::localized_recovery_options>("localizedRecoveryOptions")
      .method<&Error::copy>("copy");
  ClassBuilder<Bundle>()
      .creatable()
      .class_method<&Bundle::main_bundle>("mainBundle")
      .class_method<&Bundle::with_path>("bundleWithPath:")
      .method<&Bundle::init_with_path>("initWithPath:")
      .method<&Bundle::bundle_path>("bundlePath")
      .method<&Bundle::bundle_path>("resourcePath")
      .method<&Bundle::bundle_url>("bundleURL")
      .method<&Bundle::bundle_url>("resourceURL")
      .method<&Bundle::executable_path>("executablePath")
      .method<&Bundle::executable_url>("executableURL")
      .method<&Bundle::bundle_identifier>("bundleIdentifier")
      .method<&Bundle::object_for_info_key>("objectForInfoDictionaryKey:");
  ClassBuilder<ProcessInfo>()
      .class_method<&ProcessInfo::shared>("processInfo")
      .method<&ProcessInfo::arguments>("arguments")
      .method<&ProcessInfo::environment>("environment")
      .method<&ProcessInfo::host_name>("hostName")
      .method<&ProcessInfo::process_name>("processName")
      .method<&ProcessInfo::process_identifier>("processIdentifier")
      .method<&ProcessInfo::processor_count>("processorCount")
      .method<&ProcessInfo::processor_count>("activeProcessorCount")
      .method<&ProcessInfo::physical_memory>("physicalMemory")
      .method<&ProcessInfo::system_uptime>("systemUptime")
      .method<&ProcessInfo::operating_system_version_string>("operatingSystemVersionString")
      .method<&ProcessInfo::operating_system_version>("operatingSystemVersion")
      .method<&ProcessInfo::is_at_least>("isOperatingSystemAtLeastVersion:")
      .method<&ProcessInfo::is_low_power_mode_enabled>("isLowPowerModeEnabled")
      .method<&ProcessInfo::thermal_state>("thermalState");
}

}  // namespace

void register_foundation_classes() {
  register_root();
  register_strings();
  register_containers();
  register_numbers();
  register_errors_and_process();
}

}  // namespace metalsim::objc
