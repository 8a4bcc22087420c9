#include "device/counter_samples.h"

#include <Metal/MTLCounters.hpp>

#include "objc/class_builder.h"

namespace metalsim::device {

Object* Device::counter_sets() const { return nullptr; }

Object* Device::new_counter_sample_buffer(Object*, Error** error) {
  objc::set_error(
      error, "MTLCounterErrorDomain", MTL::CounterSampleBufferErrorInvalid,
      "newCounterSampleBuffer: this device has no counter sets, so there is nothing to sample",
      "counterSets and supportsCounterSampling say so; use metalsim::counters(), or METALSIM_STATS=1");
  return nullptr;
}

void register_counter_sample_classes() {
  using Descriptor = CounterSampleBufferDescriptor;
  objc::ClassBuilder<Descriptor>()
      .creatable()
      .copyable()
      .method<&Descriptor::counter_set>("counterSet")
      .method<&Descriptor::set_counter_set>("setCounterSet:")
      .method<&Descriptor::get_label>("label")
      .method<&Descriptor::set_label>("setLabel:")
      .method<&Descriptor::sample_count>("sampleCount")
      .method<&Descriptor::set_sample_count>("setSampleCount:")
      .method<&Descriptor::storage_mode>("storageMode")
      .method<&Descriptor::set_storage_mode>("setStorageMode:");
}

}  // namespace metalsim::device
