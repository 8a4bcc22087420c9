#include "backends/metal/device/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "backends/metal/device/library.h"
#include "backends/metal/ops/ops.h"
#include "base/error.h"

namespace minfer::metal {
namespace {

/// The names of every family that a device may report, newest first.
constexpr MTL::GPUFamily families[] = {MTL::GPUFamilyApple9, MTL::GPUFamilyApple8, MTL::GPUFamilyApple7};

bool disabled() {
  const char* text = std::getenv("MINFER_DISABLE_MPS");
  return text != nullptr && *text != '\0' && std::strcmp(text, "0") != 0;
}

std::string describe(std::string_view kernel, std::span<const Constant> constants) {
  std::string text(kernel);
  for (const Constant& constant : constants) {
    const int value = std::visit([](auto v) { return int(v); }, constant.value);
    text += fmt::format("[{}={}]", constant.index, value);
  }
  return text;
}

Ref<MTL::FunctionConstantValues> constant_values(std::span<const Constant> constants) {
  auto values = adopt(MTL::FunctionConstantValues::alloc()->init());
  for (const Constant& constant : constants) {
    if (const auto* number = std::get_if<int32_t>(&constant.value)) {
      values->setConstantValue(number, MTL::DataTypeInt, constant.index);
    } else {
      values->setConstantValue(&std::get<bool>(constant.value), MTL::DataTypeBool, constant.index);
    }
  }
  return values;
}

}  // namespace

Span Span::part(size_t at, size_t length) const {
  MINFER_CHECK(at <= bytes && length <= bytes - at, "a part lies inside its span");
  return {buffer, offset + at, length};
}

NS::String* ns_string(std::string_view text) {
  return NS::String::string(std::string(text).c_str(), NS::UTF8StringEncoding);
}

std::string std_string(const NS::String* text) { return text == nullptr ? "" : text->utf8String(); }

std::string reason_of(const NS::Error* error) {
  return error == nullptr ? "no reason given" : std_string(error->localizedDescription());
}

std::string_view Device::kind() {
#ifdef MINFER_METAL_SIM
  return "metal-sim";
#else
  return "metal";
#endif
}

std::shared_ptr<Device> Device::open() {
  static std::mutex mutex;
  static std::weak_ptr<Device> opened;
  const std::lock_guard lock(mutex);
  if (disabled()) {
    throw Error(ErrorCode::unsupported, fmt::format("opening {}: MINFER_DISABLE_MPS is set", kind()),
                "unset it, or use --device cpu");
  }
  std::shared_ptr<Device> device = opened.lock();
  if (!device) {
    device.reset(new Device());
    opened = device;
  }
  return device;
}

Device::Device() {
  const AutoreleasePool pool;
  device_ = adopt(MTL::CreateSystemDefaultDevice());
  if (!device_) {
    throw Error(ErrorCode::unsupported, fmt::format("opening {}: this machine has no Metal device", kind()),
                "use --device cpu");
  }
  read_limits();
  libraries_ = load_libraries(device_.get());
  for (const auto& library : libraries_) {
    const NS::Array* names = library->functionNames();
    for (NS::UInteger i = 0; i < names->count(); ++i) {
      kernels_.emplace(std_string(names->object<NS::String>(i)), library.get());
    }
  }
  for (const std::string& kernel : required_kernels()) {
    if (!has_kernel(kernel)) {
      throw Error(
          ErrorCode::device, fmt::format("opening {}: its library has no kernel {}", kind(), kernel),
          "build minfer again; if MINFER_METALLIB_FILE is set, it names a library of another version");
    }
  }
  start_capture();
  queue_ = adopt(device_->newCommandQueue());
  if (!queue_) throw Error(ErrorCode::device, fmt::format("opening {}: it gives no command queue", kind()));
}

void Device::read_limits() {
  limits_.name = std_string(device_->name());
  for (const MTL::GPUFamily family : families) {
    if (limits_.family == 0 && device_->supportsFamily(family)) {
      limits_.family = int(family) - int(MTL::GPUFamilyApple1) + 1;
    }
  }
  if (limits_.family == 0) {
    throw Error(ErrorCode::unsupported,
                fmt::format("opening {}: {} is of no family from Apple7 on", kind(), limits_.name),
                "use --device cpu; the kernels need an Apple GPU of the M1 or later");
  }
  limits_.threadgroup_memory = device_->maxThreadgroupMemoryLength();
  limits_.threads_per_group = device_->maxThreadsPerThreadgroup().width;
  limits_.buffer_bytes = device_->maxBufferLength();
  limits_.working_set = device_->recommendedMaxWorkingSetSize();
  limits_.unified_memory = device_->hasUnifiedMemory();
}

/// MINFER_METAL_CAPTURE=1: everything this process does goes to the developer tools that are attached.
void Device::start_capture() {
  const char* text = std::getenv("MINFER_METAL_CAPTURE");
  if (text == nullptr || std::strcmp(text, "1") != 0) return;
  const auto descriptor = adopt(MTL::CaptureDescriptor::alloc()->init());
  descriptor->setCaptureObject(device_.get());
  descriptor->setDestination(MTL::CaptureDestinationDeveloperTools);
  NS::Error* error = nullptr;
  if (!MTL::CaptureManager::sharedCaptureManager()->startCapture(descriptor.get(), &error)) {
    throw Error(ErrorCode::device, fmt::format("MINFER_METAL_CAPTURE=1: {}", reason_of(error)),
                "start minfer from Xcode, or unset the variable");
  }
}

bool Device::has_kernel(std::string_view kernel) const { return kernels_.find(kernel) != kernels_.end(); }

const Pipeline& Device::pipeline(std::string_view kernel, std::span<const Constant> constants) {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<Pipeline>& known =
      pipelines_[{std::string(kernel), std::vector<Constant>(constants.begin(), constants.end())}];
  if (known) return *known;

  const AutoreleasePool pool;
  const std::string name = describe(kernel, constants);
  const auto fail = [&](std::string_view what, const NS::Error* error) {
    throw Error(ErrorCode::device,
                fmt::format("{} the kernel {} for {}: {}", what, name, kind(), reason_of(error)),
                "this is a fault of minfer or of the device's compiler; --device cpu works without it");
  };
  const auto library = kernels_.find(kernel);
  MINFER_CHECK(library != kernels_.end(), "a kernel that ops ask for is in required_kernels");
  NS::Error* error = nullptr;
  const auto function =
      adopt(constants.empty()
                ? library->second->newFunction(ns_string(kernel))
                : library->second->newFunction(ns_string(kernel), constant_values(constants).get(), &error));
  if (!function) fail("specialising", error);
  auto state = adopt(device_->newComputePipelineState(function.get(), &error));
  if (!state) fail("compiling", error);
  known = std::make_unique<Pipeline>(Pipeline{name, state});
  return *known;
}

Ref<MTL::Buffer> Device::new_buffer(size_t bytes, std::string_view label) {
  const AutoreleasePool pool;
  if (bytes > limits_.buffer_bytes) {
    throw Error(ErrorCode::out_of_memory,
                fmt::format("{} of {} bytes on {}: its longest buffer has {}", label, bytes, kind(),
                            limits_.buffer_bytes),
                "use a shorter context or a smaller prefill chunk");
  }
  auto buffer = adopt(device_->newBuffer(std::max<size_t>(bytes, 16), MTL::ResourceStorageModeShared));
  if (!buffer) {
    throw Error(ErrorCode::out_of_memory,
                fmt::format("{} of {} bytes: {} has no memory for it", label, bytes, kind()),
                "use a shorter context, a smaller model or --device cpu");
  }
  buffer->setLabel(ns_string(label));
  std::memset(buffer->contents(), 0, buffer->length());
  return buffer;
}

}  // namespace minfer::metal
