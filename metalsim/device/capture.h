// MTLCaptureManager, MTLCaptureScope, MTLCaptureDescriptor: as on a machine where no developer tool is
// attached.
#pragma once

#include <Metal/MTLCaptureManager.hpp>

#include "device/device.h"

namespace metalsim::device {

class CaptureDescriptor : public Object {
 public:
  static constexpr const char* class_name = "MTLCaptureDescriptor";

  Object* capture_object() const { return object_.get(); }
  void set_capture_object(Object* object) { object_ = object; }
  MTL::CaptureDestination destination() const { return destination_; }
  void set_destination(MTL::CaptureDestination destination) { destination_ = destination; }
  Object* output_url() const { return url_.get(); }
  void set_output_url(Object* url) { url_ = url; }

 private:
  Ref<Object> object_;
  Ref<Object> url_;
  MTL::CaptureDestination destination_ = MTL::CaptureDestinationDeveloperTools;
};

class CaptureScope : public DeviceObject {
 public:
  static constexpr const char* class_name = "MTLCaptureScope";
  CaptureScope(Device* device, Object* queue) : DeviceObject(device), queue_(queue) {}

  Object* queue() const { return queue_.get(); }
  void begin();
  void end();

 private:
  Ref<Object> queue_;
  bool begun_ = false;
};

/// Never captures: nothing is attached, and a document of a GPU's trace would have no GPU in it.
class CaptureManager : public Object {
 public:
  static constexpr const char* class_name = "MTLCaptureManager";

  static CaptureManager* shared();
  bool supports_destination(MTL::CaptureDestination) const { return false; }
  bool is_capturing() const { return false; }
  bool start_with_descriptor(Object* descriptor, Error** error);
  void start_with(Object* object);
  void stop() {}
  Object* new_scope_of_device(Object* device);
  Object* new_scope_of_queue(Object* queue);
  Object* default_scope() const { return default_scope_.get(); }
  void set_default_scope(Object* scope) { default_scope_ = scope; }

 private:
  Ref<Object> default_scope_;
};

void register_capture_classes();

}  // namespace metalsim::device
