// Libraries, functions with constants, and pipelines.
#include <algorithm>

#include "host.h"

namespace {

std::string description(const NS::Error* error) {
  REQUIRE(error);
  return error->localizedDescription()->utf8String();
}

std::string suggestion(const NS::Error* error) {
  REQUIRE(error->localizedRecoverySuggestion());
  return error->localizedRecoverySuggestion()->utf8String();
}

std::vector<std::string> names_of(const MTL::Library* library) {
  std::vector<std::string> names;
  for (size_t i = 0; i < library->functionNames()->count(); ++i)
    names.emplace_back(library->functionNames()->object<NS::String>(i)->utf8String());
  std::sort(names.begin(), names.end());
  return names;
}

bool has(const std::vector<std::string>& names, const char* name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

TEST_CASE("the default library has the kernels linked into the program") {
  Host host;
  const auto names = names_of(host.library.get());
  CHECK(has(names, "fill_index"));
  CHECK(has(names, "scale"));
  CHECK_FALSE(has(names, "only_in_the_file"));
  const auto function = NS::TransferPtr(host.library->newFunction(text("fill_index")));
  CHECK(function->name()->isEqualToString(text("fill_index")));
  CHECK(function->functionType() == MTL::FunctionTypeKernel);
  CHECK(function->device() == host.device.get());
}

TEST_CASE("a library loads from a file, by path and by URL, and runs") {
  Host host;
  NS::Error* error = nullptr;
  const auto by_path = NS::TransferPtr(host.device->newLibrary(text(METALSIM_TEST_MODULE), &error));
  REQUIRE(by_path);
  CHECK(names_of(by_path.get()) == std::vector<std::string>{"only_in_the_file"});
  const auto by_url =
      NS::TransferPtr(host.device->newLibrary(NS::URL::fileURLWithPath(text(METALSIM_TEST_MODULE)), &error));
  REQUIRE(by_url);
  host.library = by_path;
  const auto y = host.buffer(32 * sizeof(uint32_t));
  CHECK(host.run_simple("only_in_the_file", y).empty());
  CHECK(Host::data<uint32_t>(y)[5] == 50);
  // The default library is still what was linked in.
  CHECK_FALSE(has(names_of(NS::TransferPtr(host.device->newDefaultLibrary()).get()), "only_in_the_file"));
}

TEST_CASE("a path that does not exist finds the linked library of that name") {
  Host host;
  NS::Error* error = nullptr;
  const auto library =
      NS::TransferPtr(host.device->newLibrary(text("somewhere/metalsim_device_kernels.metallib"), &error));
  REQUIRE(library);
  CHECK(has(names_of(library.get()), "fill_index"));
}

TEST_CASE("errors of libraries say what to do") {
  Host host;
  NS::Error* error = nullptr;
  CHECK_FALSE(NS::TransferPtr(host.device->newLibrary(text("no_such.metallib"), &error)));
  CHECK(error->code() == MTL::LibraryErrorFileNotFound);
  CHECK(contains(description(error), "no_such.metallib"));
  CHECK(contains(suggestion(error), "add_metal_library"));

  CHECK_FALSE(NS::TransferPtr(
      host.device->newLibrary(text(METALSIM_APPLE_HEADERS "/Metal/Metal.hpp"), &error)));  // no library
  CHECK(error->code() == MTL::LibraryErrorUnsupported);

  CHECK_FALSE(NS::TransferPtr(host.device->newLibrary(text("kernel void f() {}"),
                                                      static_cast<MTL::CompileOptions*>(nullptr), &error)));
  CHECK(contains(description(error), "does not compile Metal source at run time"));
  CHECK(contains(suggestion(error), "add_metal_library"));

  CHECK_FALSE(NS::TransferPtr(host.library->newFunction(text("nothing"))));
  CHECK_FALSE(NS::TransferPtr(host.library->newFunction(text("nothing"), nullptr, &error)));
  CHECK(error->code() == MTL::LibraryErrorFunctionNotFound);
  CHECK(contains(description(error), "no kernel \"nothing\""));
}

TEST_CASE("function constants reach the kernel, by index, by name and by range") {
  Host host;
  const auto run = [&](const MTL::FunctionConstantValues* values) {
    NS::Error* error = nullptr;
    const auto function = NS::TransferPtr(host.library->newFunction(text("repeat_add"), values, &error));
    REQUIRE(function);
    const auto state = NS::TransferPtr(host.device->newComputePipelineState(function.get(), &error));
    const auto y = host.buffer(32 * sizeof(int));
    MTL::CommandBuffer* const commands = host.queue->commandBuffer();
    MTL::ComputeCommandEncoder* const encoder = commands->computeCommandEncoder();
    encoder->setComputePipelineState(state.get());
    encoder->setBuffer(y.get(), 0, 0);
    encoder->dispatchThreads(MTL::Size(32, 1, 1), MTL::Size(32, 1, 1));
    encoder->endEncoding();
    CHECK(Host::run(commands).empty());
    return Host::data<int>(y)[7];
  };
  const int five = 5;
  const bool yes = true, no = false;
  const auto values = NS::TransferPtr(MTL::FunctionConstantValues::alloc()->init());
  values->setConstantValue(&five, MTL::DataTypeInt, NS::UInteger{0});
  values->setConstantValue(&no, MTL::DataTypeBool, NS::UInteger{1});
  CHECK(run(values.get()) == 5);
  values->setConstantValue(&yes, MTL::DataTypeBool, NS::UInteger{1});
  CHECK(run(values.get()) == -5);
  values->reset();
  values->setConstantValue(&five, MTL::DataTypeInt, text("repeat"));
  values->setConstantValue(&yes, MTL::DataTypeBool, text("negate"));
  CHECK(run(values.get()) == -5);
  values->reset();
  values->setConstantValues(&five, MTL::DataTypeInt, NS::Range(0, 1));
  values->setConstantValue(&no, MTL::DataTypeBool, NS::UInteger{1});
  CHECK(run(values.get()) == 5);
}

TEST_CASE("a function constant that the kernel needs and the host left out is an error that names it") {
  Host host;
  const int five = 5;
  const auto values = NS::TransferPtr(MTL::FunctionConstantValues::alloc()->init());
  values->setConstantValue(&five, MTL::DataTypeInt, text("repeat"));
  NS::Error* error = nullptr;
  CHECK_FALSE(NS::TransferPtr(host.library->newFunction(text("repeat_add"), values.get(), &error)));
  CHECK(error->code() == MTL::LibraryErrorCompileFailure);
  CHECK(description(error) == "kernel repeat_add: function constant 1 (negate) has no value");
  CHECK(contains(suggestion(error), "setConstantValue"));

  // Without values the function is there to be asked about, but no pipeline can be made of it.
  const auto function = NS::TransferPtr(host.library->newFunction(text("repeat_add")));
  REQUIRE(function);
  CHECK_FALSE(NS::TransferPtr(host.device->newComputePipelineState(function.get(), &error)));
  CHECK(contains(description(error), "(negate) has no value"));

  // Constants that the kernel does not use, or asks about, may be left out.
  values->reset();
  CHECK(NS::TransferPtr(host.library->newFunction(text("fill_index"), values.get(), &error)));
  CHECK(NS::TransferPtr(host.library->newFunction(text("add_bias"), values.get(), &error)));
}

TEST_CASE("a function constant of the wrong type is an error that names it") {
  Host host;
  const float wrong = 5;
  const auto values = NS::TransferPtr(MTL::FunctionConstantValues::alloc()->init());
  values->setConstantValue(&wrong, MTL::DataTypeFloat, NS::UInteger{0});
  NS::Error* error = nullptr;
  CHECK_FALSE(NS::TransferPtr(host.library->newFunction(text("repeat_add"), values.get(), &error)));
  CHECK(contains(description(error), "function constant 0 (repeat)"));
  CHECK_MISUSE(values->setConstantValue(nullptr, MTL::DataTypeInt, NS::UInteger{0}), "null");
  CHECK_MISUSE(values->setConstantValue(&wrong, MTL::DataTypePointer, NS::UInteger{0}),
               "cannot be a function constant");
}

TEST_CASE("a function from a descriptor, and what a function says of its constants") {
  Host host;
  const auto descriptor = NS::RetainPtr(MTL::FunctionDescriptor::functionDescriptor());
  descriptor->setName(text("repeat_add"));
  NS::Error* error = nullptr;
  const auto function = NS::TransferPtr(host.library->newFunction(descriptor.get(), &error));
  REQUIRE(function);
  const auto* const constant =
      function->functionConstantsDictionary()->object<MTL::FunctionConstant>(text("repeat"));
  REQUIRE(constant);
  CHECK(constant->index() == 0);
  CHECK(constant->type() == MTL::DataTypeInt);
  CHECK(constant->required());
  CHECK_FALSE(function->functionConstantsDictionary()
                  ->object<MTL::FunctionConstant>(text("bias_wanted"))
                  ->required());
}

TEST_CASE("a pipeline knows its limits") {
  Host host;
  CHECK(host.pipeline("fill_index")->maxTotalThreadsPerThreadgroup() == 1024);
  CHECK(host.pipeline("at_most_64")->maxTotalThreadsPerThreadgroup() == 64);
  CHECK(host.pipeline("fill_index")->threadExecutionWidth() == 32);
  CHECK(host.pipeline("fill_index")->staticThreadgroupMemoryLength() == 0);
  CHECK(host.pipeline("two_arrays")->staticThreadgroupMemoryLength() == 0);
  CHECK(host.pipeline("reverse_own_32")->staticThreadgroupMemoryLength() == 144 + 32 * 8 + 16);
  CHECK(host.pipeline("reverse_own_1024")->staticThreadgroupMemoryLength() == 4112 + 1024 * 8 + 16);
  NS::Error* error = nullptr;
  CHECK_FALSE(
      NS::TransferPtr(host.device->newComputePipelineState(static_cast<MTL::Function*>(nullptr), &error)));
  CHECK(contains(description(error), "the function is null"));
  const auto large = NS::TransferPtr(host.library->newFunction(text("reverse_own_4096")));
  CHECK_FALSE(NS::TransferPtr(host.device->newComputePipelineState(large.get(), &error)));
  CHECK(contains(description(error), "declares 49184 bytes of threadgroup memory; the device has 32768"));
}

TEST_CASE("a pipeline from a descriptor has its label and its smaller limit") {
  Host host;
  const auto function = NS::TransferPtr(host.library->newFunction(text("fill_index")));
  const auto descriptor = NS::TransferPtr(MTL::ComputePipelineDescriptor::alloc()->init());
  descriptor->setComputeFunction(function.get());
  descriptor->setLabel(text("fill"));
  descriptor->setMaxTotalThreadsPerThreadgroup(128);
  const auto make = [&](NS::Error** error) {
    return NS::TransferPtr(
        host.device->newComputePipelineState(descriptor.get(), MTL::PipelineOptionNone, nullptr, error));
  };
  NS::Error* error = nullptr;
  const auto state = make(&error);
  REQUIRE(state);
  CHECK(state->label()->isEqualToString(text("fill")));
  CHECK(state->maxTotalThreadsPerThreadgroup() == 128);
  descriptor->setMaxTotalThreadsPerThreadgroup(2048);
  CHECK_FALSE(make(&error));
  CHECK(contains(description(error), "2048"));
  descriptor->reset();
  CHECK_FALSE(make(&error));
  CHECK(contains(description(error), "no function"));
}

TEST_CASE("counter sample buffers are refused with a reason") {
  Host host;
  CHECK(host.device->counterSets() == nullptr);
  CHECK_FALSE(host.device->supportsCounterSampling(MTL::CounterSamplingPointAtDispatchBoundary));
  const auto descriptor = NS::TransferPtr(MTL::CounterSampleBufferDescriptor::alloc()->init());
  NS::Error* error = nullptr;
  CHECK(host.device->newCounterSampleBuffer(descriptor.get(), &error) == nullptr);
  CHECK(contains(description(error), "no counter sets"));
}
