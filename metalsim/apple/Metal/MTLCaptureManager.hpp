#pragma once

#include "MTLCaptureScope.hpp"

namespace MTL {

enum CaptureError : NS::Integer {
  CaptureErrorNotSupported = 1,
  CaptureErrorAlreadyCapturing = 2,
  CaptureErrorInvalidDescriptor = 3,
};

enum CaptureDestination : NS::Integer {
  CaptureDestinationDeveloperTools = 1,
  CaptureDestinationGPUTraceDocument = 2,
};

class CaptureDescriptor : public NS::Copying<CaptureDescriptor> {
 public:
  static CaptureDescriptor* alloc() {
    return NS::Private::send<CaptureDescriptor*, "alloc">(NS::Private::class_named<"MTLCaptureDescriptor">());
  }
  NS::Object* captureObject() const { return NS::Private::send<NS::Object*, "captureObject">(this); }
  CaptureDestination destination() const {
    return NS::Private::send<CaptureDestination, "destination">(this);
  }
  CaptureDescriptor* init() { return NS::Private::send<CaptureDescriptor*, "init">(this); }
  NS::URL* outputURL() const { return NS::Private::send<NS::URL*, "outputURL">(this); }
  void setCaptureObject(NS::Object* captureObject) {
    NS::Private::send<void, "setCaptureObject:">(this, captureObject);
  }
  void setDestination(MTL::CaptureDestination destination) {
    NS::Private::send<void, "setDestination:">(this, destination);
  }
  void setOutputURL(const NS::URL* outputURL) { NS::Private::send<void, "setOutputURL:">(this, outputURL); }
};

class CaptureManager : public NS::Referencing<CaptureManager> {
 public:
  CaptureScope* defaultCaptureScope() const {
    return NS::Private::send<CaptureScope*, "defaultCaptureScope">(this);
  }
  bool isCapturing() const { return NS::Private::send<bool, "isCapturing">(this); }
  CaptureScope* newCaptureScope(const MTL::Device* device) {
    return NS::Private::send<CaptureScope*, "newCaptureScopeWithDevice:">(this, device);
  }
  CaptureScope* newCaptureScope(const MTL::CommandQueue* commandQueue) {
    return NS::Private::send<CaptureScope*, "newCaptureScopeWithCommandQueue:">(this, commandQueue);
  }
  void setDefaultCaptureScope(const MTL::CaptureScope* defaultCaptureScope) {
    NS::Private::send<void, "setDefaultCaptureScope:">(this, defaultCaptureScope);
  }
  static CaptureManager* sharedCaptureManager() {
    return NS::Private::send<CaptureManager*, "sharedCaptureManager">(
        NS::Private::class_named<"MTLCaptureManager">());
  }
  bool startCapture(const MTL::CaptureDescriptor* descriptor, NS::Error** error) {
    return NS::Private::send<bool, "startCaptureWithDescriptor:error:">(this, descriptor, error);
  }
  void startCapture(const MTL::Device* device) {
    NS::Private::send<void, "startCaptureWithDevice:">(this, device);
  }
  void startCapture(const MTL::CommandQueue* commandQueue) {
    NS::Private::send<void, "startCaptureWithCommandQueue:">(this, commandQueue);
  }
  void startCapture(const MTL::CaptureScope* captureScope) {
    NS::Private::send<void, "startCaptureWithScope:">(this, captureScope);
  }
  void stopCapture() { NS::Private::send<void, "stopCapture">(this); }
  bool supportsDestination(MTL::CaptureDestination destination) {
    return NS::Private::send<bool, "supportsDestination:">(this, destination);
  }
};

}  // namespace MTL
