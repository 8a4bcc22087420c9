// The list of all classes. A class comes after its superclass.
#include "device/blit_encoder.h"
#include "device/buffer.h"
#include "device/capture.h"
#include "device/command_buffer.h"
#include "device/command_queue.h"
#include "device/compute_encoder.h"
#include "device/counter_samples.h"
#include "device/event.h"
#include "device/heap.h"
#include "device/library.h"
#include "device/pipeline.h"
#include "device/residency_set.h"
#include "objc/class_builder.h"
#include "objc/foundation.h"

namespace metalsim::objc {

void register_all_classes() {
  register_foundation_classes();
  device::register_device_class();
  device::register_buffer_classes();
  device::register_heap_classes();
  device::register_residency_set_classes();
  device::register_event_classes();
  device::register_library_classes();
  device::register_pipeline_classes();
  device::register_command_queue_classes();
  device::register_command_buffer_classes();
  device::register_command_encoder_class();
  device::register_compute_encoder_classes();
  device::register_blit_encoder_class();
  device::register_capture_classes();
  device::register_counter_sample_classes();
}

}  // namespace metalsim::objc
