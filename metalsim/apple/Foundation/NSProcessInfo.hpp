#pragma once

#include "NSArray.hpp"
#include "NSDictionary.hpp"
#include "NSString.hpp"

namespace NS {

enum ProcessInfoThermalState : Integer {
  ProcessInfoThermalStateNominal = 0,
  ProcessInfoThermalStateFair = 1,
  ProcessInfoThermalStateSerious = 2,
  ProcessInfoThermalStateCritical = 3,
};

class ProcessInfo : public Referencing<ProcessInfo> {
 public:
  static ProcessInfo* processInfo() {
    return Private::send<ProcessInfo*, "processInfo">(Private::class_named<"NSProcessInfo">());
  }
  class Array* arguments() const {
    return Private::send<Array*, "arguments">(this);
  }
  class Dictionary* environment() const {
    return Private::send<Dictionary*, "environment">(this);
  }
  class String* hostName() const {
    return Private::send<String*, "hostName">(this);
  }
  class String* processName() const {
    return Private::send<String*, "processName">(this);
  }
  int processIdentifier() const { return Private::send<int, "processIdentifier">(this); }
  class String* operatingSystemVersionString() const {
    return Private::send<String*, "operatingSystemVersionString">(this);
  }
  OperatingSystemVersion operatingSystemVersion() const {
    return Private::send<OperatingSystemVersion, "operatingSystemVersion">(this);
  }
  bool isOperatingSystemAtLeastVersion(OperatingSystemVersion version) const {
    return Private::send<bool, "isOperatingSystemAtLeastVersion:">(this, version);
  }
  UInteger processorCount() const { return Private::send<UInteger, "processorCount">(this); }
  UInteger activeProcessorCount() const { return Private::send<UInteger, "activeProcessorCount">(this); }
  unsigned long long physicalMemory() const {
    return Private::send<unsigned long long, "physicalMemory">(this);
  }
  TimeInterval systemUptime() const { return Private::send<TimeInterval, "systemUptime">(this); }
  ProcessInfoThermalState thermalState() const {
    return Private::send<ProcessInfoThermalState, "thermalState">(this);
  }
  bool isLowPowerModeEnabled() const { return Private::send<bool, "isLowPowerModeEnabled">(this); }
};

}  // namespace NS
