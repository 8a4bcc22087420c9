#include "device/capture.h"

#include "device/command_queue.h"
#include "objc/class_builder.h"
#include "objc/misuse.h"

namespace metalsim::device {
namespace {

constexpr const char* error_domain = "MTLCaptureError";

}  // namespace

void CaptureScope::begin() {
  if (begun_) report_misuse("beginScope twice on " + describe() + " without endScope between");
  begun_ = true;
}

void CaptureScope::end() {
  if (!begun_) report_misuse("endScope on " + describe() + " without beginScope");
  begun_ = false;
}

CaptureManager* CaptureManager::shared() {
  static CaptureManager* const instance = [] {
    auto* const manager = objc::make<CaptureManager>();
    objc::make_immortal(manager);
    return manager;
  }();
  return instance;
}

bool CaptureManager::start_with_descriptor(Object* object, Error** error) {
  if (error) *error = nullptr;
  const auto* const descriptor = dynamic_cast<CaptureDescriptor*>(object);
  if (!descriptor || !descriptor->capture_object()) {
    objc::set_error(error, error_domain, MTL::CaptureErrorInvalidDescriptor,
                    "startCapture: the descriptor has no capture object");
    return false;
  }
  objc::set_error(
      error, error_domain, MTL::CaptureErrorNotSupported,
      "startCapture: no developer tool is attached to the simulator, and it writes no GPU trace",
      "ask supportsDestination first; metalsim::reports() and counters() tell what a trace would");
  return false;
}

void CaptureManager::start_with(Object* object) {
  if (!object) report_misuse("startCapture: null");
}

Object* CaptureManager::new_scope_of_device(Object* object) {
  auto* const device = dynamic_cast<Device*>(object);
  if (device) return objc::make<CaptureScope>(device, static_cast<Object*>(nullptr));
  report_misuse("newCaptureScope: the device is null");
  return nullptr;
}

Object* CaptureManager::new_scope_of_queue(Object* object) {
  auto* const queue = dynamic_cast<CommandQueue*>(object);
  if (queue) return objc::make<CaptureScope>(queue->owner(), object);
  report_misuse("newCaptureScope: the queue is null");
  return nullptr;
}

void register_capture_classes() {
  objc::ClassBuilder<CaptureDescriptor>()
      .creatable()
      .copyable()
      .method<&CaptureDescriptor::capture_object>("captureObject")
      .method<&CaptureDescriptor::set_capture_object>("setCaptureObject:")
      .method<&CaptureDescriptor::destination>("destination")
      .method<&CaptureDescriptor::set_destination>("setDestination:")
      .method<&CaptureDescriptor::output_url>("outputURL")
      .method<&CaptureDescriptor::set_output_url>("setOutputURL:");
  objc::ClassBuilder<CaptureScope>()
      .method<&CaptureScope::device>("device")
      .method<&CaptureScope::get_label>("label")
      .method<&CaptureScope::set_label>("setLabel:")
      .method<&CaptureScope::queue>("commandQueue")
      .method<&CaptureScope::begin>("beginScope")
      .method<&CaptureScope::end>("endScope");
  objc::ClassBuilder<CaptureManager>()
      .class_method<&CaptureManager::shared>("sharedCaptureManager")
      .method<&CaptureManager::supports_destination>("supportsDestination:")
      .method<&CaptureManager::is_capturing>("isCapturing")
      .method<&CaptureManager::start_with_descriptor>("startCaptureWithDescriptor:error:")
      .method<&CaptureManager::start_with>("startCaptureWithDevice:")
      .method<&CaptureManager::start_with>("startCaptureWithCommandQueue:")
      .method<&CaptureManager::start_with>("startCaptureWithScope:")
      .method<&CaptureManager::stop>("stopCapture")
      .method<&CaptureManager::new_scope_of_device>("newCaptureScopeWithDevice:")
      .method<&CaptureManager::new_scope_of_queue>("newCaptureScopeWithCommandQueue:")
      .method<&CaptureManager::default_scope>("defaultCaptureScope")
      .method<&CaptureManager::set_default_scope>("setDefaultCaptureScope:");
}

}  // namespace metalsim::device
