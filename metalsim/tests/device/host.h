// What all tests of the host classes need. Everything of Metal goes through the public headers.
#pragma once

#include <doctest/doctest.h>
#include <Foundation/Foundation.hpp>
#include <Metal/Metal.hpp>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "metalsim/device.h"
#include "metalsim/metalsim.h"

template <class T>
using Ptr = NS::SharedPtr<T>;

inline const NS::String* text(const char* characters) {
  return NS::String::string(characters, NS::UTF8StringEncoding);
}

/// Hides a test's reports from the screen, and clears them before and after.
class QuietReports {
 public:
  QuietReports() {
    metalsim::Options options = metalsim::options();
    options.print_reports = false;
    metalsim::set_options(options);
    metalsim::clear_reports();
  }
  ~QuietReports() { metalsim::clear_reports(); }
};

/// The messages of all reports so far, one a line; none are left.
inline std::string take_reports() {
  std::string all;
  for (const metalsim::Report& report : metalsim::reports()) all += report.message + "\n";
  metalsim::clear_reports();
  return all;
}

inline bool contains(const std::string& whole, const char* part) {
  return whole.find(part) != std::string::npos;
}

/// The statement makes exactly one report, and its message contains `part`.
#define CHECK_MISUSE(statement, part)            \
  do {                                           \
    metalsim::clear_reports();                   \
    statement;                                   \
    const auto made = metalsim::reports();       \
    const std::string messages = take_reports(); \
    INFO("reports: ", messages);                 \
    CHECK(made.size() == 1);                     \
    CHECK(contains(messages, part));             \
  } while (false)

/// A device with the test kernels, one queue and a pool.
struct Host {
  QuietReports quiet;
  Ptr<NS::AutoreleasePool> pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  Ptr<MTL::Device> device = NS::TransferPtr(MTL::CreateSystemDefaultDevice());
  Ptr<MTL::Library> library = NS::TransferPtr(device->newDefaultLibrary());
  Ptr<MTL::CommandQueue> queue = NS::TransferPtr(device->newCommandQueue());

  Ptr<MTL::ComputePipelineState> pipeline(const char* kernel) const {
    const auto function = NS::TransferPtr(library->newFunction(text(kernel)));
    REQUIRE(function);
    NS::Error* error = nullptr;
    const auto state = NS::TransferPtr(device->newComputePipelineState(function.get(), &error));
    REQUIRE(state);
    return state;
  }

  Ptr<MTL::Buffer> buffer(size_t bytes) const {
    const auto made = NS::TransferPtr(device->newBuffer(bytes, MTL::ResourceStorageModeShared));
    REQUIRE(made);
    std::memset(made->contents(), 0, bytes);
    return made;
  }

  template <class T>
  static T* data(const Ptr<MTL::Buffer>& buffer) {
    return static_cast<T*>(buffer->contents());
  }

  /// Commits, waits and gives the error's text; empty if there is none.
  static std::string run(MTL::CommandBuffer* commands) {
    commands->commit();
    commands->waitUntilCompleted();
    return commands->error() ? commands->error()->localizedDescription()->utf8String() : "";
  }

  /// Runs a kernel with the buffer at index 0 on `groups` threadgroups of 32 threads.
  std::string run_simple(const char* kernel, const Ptr<MTL::Buffer>& target, size_t groups = 1) const {
    const auto state = pipeline(kernel);
    MTL::CommandBuffer* const commands = queue->commandBuffer();
    MTL::ComputeCommandEncoder* const encoder = commands->computeCommandEncoder();
    encoder->setComputePipelineState(state.get());
    encoder->setBuffer(target.get(), 0, 0);
    encoder->dispatchThreadgroups(MTL::Size(groups, 1, 1), MTL::Size(32, 1, 1));
    encoder->endEncoding();
    return run(commands);
  }
};
