// Queues, command buffers, events and planned faults.
#include <atomic>
#include <chrono>
#include <future>
#include <mutex>
#include <thread>

#include "host.h"

namespace {

constexpr size_t word = sizeof(uint32_t);

/// Encodes add_one on 32 words.
void encode_add(const Host& host, MTL::CommandBuffer* commands, const Ptr<MTL::Buffer>& y) {
  MTL::ComputeCommandEncoder* const encoder = commands->computeCommandEncoder();
  encoder->setComputePipelineState(host.pipeline("add_one").get());
  encoder->setBuffer(y.get(), 0, 0);
  encoder->dispatchThreadgroups(MTL::Size(1, 1, 1), MTL::Size(32, 1, 1));
  encoder->endEncoding();
}

}  // namespace

TEST_CASE("a command buffer goes through its states and takes time") {
  Host host;
  const auto y = host.buffer(32 * word);
  MTL::CommandBuffer* const commands = host.queue->commandBuffer();
  CHECK(commands->commandQueue() == host.queue.get());
  CHECK(commands->status() == MTL::CommandBufferStatusNotEnqueued);
  commands->enqueue();
  CHECK(commands->status() == MTL::CommandBufferStatusEnqueued);
  encode_add(host, commands, y);
  commands->commit();
  commands->waitUntilScheduled();
  CHECK(commands->status() >= MTL::CommandBufferStatusScheduled);
  commands->waitUntilCompleted();
  CHECK(commands->status() == MTL::CommandBufferStatusCompleted);
  CHECK(commands->error() == nullptr);
  CHECK(commands->GPUStartTime() > 0);
  CHECK(commands->GPUEndTime() >= commands->GPUStartTime());
  CHECK(Host::data<uint32_t>(y)[0] == 1);
}

TEST_CASE("command buffers of a queue run in the order of enqueue, not of commit") {
  Host host;
  std::mutex mutex;
  std::vector<int> order;
  const auto record = [&](int number) {
    return [&, number](MTL::CommandBuffer*) {
      std::lock_guard lock(mutex);
      order.push_back(number);
    };
  };
  MTL::CommandBuffer* const first = host.queue->commandBuffer();
  MTL::CommandBuffer* const second = host.queue->commandBuffer();
  first->enqueue();
  second->enqueue();
  first->addCompletedHandler(MTL::HandlerFunction(record(1)));
  second->addCompletedHandler(MTL::HandlerFunction(record(2)));
  second->commit();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // time enough to run out of turn
  CHECK(second->status() == MTL::CommandBufferStatusCommitted);
  first->commit();
  second->waitUntilCompleted();
  CHECK(order == std::vector<int>{1, 2});
}

TEST_CASE("handlers are called on another thread, scheduled before completed, before the wait returns") {
  Host host;
  const auto main_thread = std::this_thread::get_id();
  std::vector<std::string> calls;
  std::thread::id handler_thread;
  MTL::CommandBuffer* const commands = host.queue->commandBuffer();
  commands->addScheduledHandler(
      MTL::HandlerFunction([&](MTL::CommandBuffer*) { calls.push_back("scheduled"); }));
  commands->addCompletedHandler(MTL::HandlerFunction([&](MTL::CommandBuffer* completed) {
    handler_thread = std::this_thread::get_id();
    CHECK(completed->status() == MTL::CommandBufferStatusCompleted);
    completed->waitUntilCompleted();  // returns at once here
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    calls.push_back("completed");
  }));
  commands->commit();
  commands->waitUntilCompleted();
  CHECK(calls == std::vector<std::string>{"scheduled", "completed"});
  CHECK(handler_thread != main_thread);
}

TEST_CASE("a handler may wait for a later command buffer of its queue") {
  Host host;
  MTL::CommandBuffer* const first = host.queue->commandBuffer();
  MTL::CommandBuffer* const second = host.queue->commandBuffer();
  first->addCompletedHandler(MTL::HandlerFunction([&](MTL::CommandBuffer*) {
    second->waitUntilCompleted();
    CHECK(second->status() == MTL::CommandBufferStatusCompleted);
  }));
  first->enqueue();
  second->commit();  // behind the first; committed before the first's handler can run
  first->commit();
  first->waitUntilCompleted();
}

TEST_CASE("everything may be released while work is in flight") {
  const size_t alive =
      metalsim::live_objects().size();  // perhaps with some of an earlier test that are just going
  std::promise<void> done;
  {
    Host host;
    const auto y = host.buffer(32 * word);
    for (int i = 0; i < 8; ++i) {
      MTL::CommandBuffer* const commands = host.queue->commandBuffer();
      encode_add(host, commands, y);
      if (i == 7)
        commands->addCompletedHandler(MTL::HandlerFunction([&](MTL::CommandBuffer*) { done.set_value(); }));
      commands->commit();
    }
  }
  done.get_future().wait();
  // The last references go right after the handler; that is the queue's own business, so wait for it.
  for (int i = 0; i < 200 && metalsim::live_objects().size() > alive; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  CHECK(metalsim::live_objects().size() <= alive);
}

TEST_CASE("mistakes of submission: twice, waiting before, encoding after, handlers after") {
  Host host;
  MTL::CommandBuffer* const commands = host.queue->commandBuffer();
  CHECK_MISUSE(commands->waitUntilCompleted(), "before commit");
  CHECK_MISUSE(commands->waitUntilScheduled(), "before commit");
  commands->commit();
  CHECK_MISUSE(commands->commit(), "commit twice");
  CHECK_MISUSE(commands->addCompletedHandler(MTL::HandlerFunction([](MTL::CommandBuffer*) {})),
               "after commit");
  MTL::ComputeCommandEncoder* encoder = nullptr;
  CHECK_MISUSE(encoder = commands->computeCommandEncoder(), "after commit");
  encoder->endEncoding();
  commands->waitUntilCompleted();
  CHECK(commands->status() == MTL::CommandBufferStatusCompleted);
}

TEST_CASE("a resource released too early for unretained references is reported") {
  Host host;
  const auto event = NS::TransferPtr(host.device->newSharedEvent());
  const auto run = [&](bool keep) {
    auto y = host.buffer(32 * word);
    MTL::CommandBuffer* const commands = host.queue->commandBufferWithUnretainedReferences();
    CHECK_FALSE(commands->retainedReferences());
    commands->encodeWait(event.get(), event->signaledValue() + 1);
    encode_add(host, commands, y);
    commands->commit();
    if (!keep) y.reset();
    event->setSignaledValue(event->signaledValue() + 1);
    commands->waitUntilCompleted();
  };
  run(true);
  CHECK(take_reports().empty());
  CHECK_MISUSE(run(false), "released while a command buffer with unretained references used it");
}

TEST_CASE("a queue has room for so many command buffers; waiting for ever is reported") {
  Host host;
  const auto small = NS::TransferPtr(host.device->newCommandQueue(2));
  small->commandBuffer();
  MTL::CommandBuffer* const second = small->commandBuffer();
  CHECK_MISUSE(small->commandBuffer(), "wait for ever");
  second->commit();
  second->waitUntilCompleted();
  CHECK_MISUSE(host.device->newCommandQueue(NS::UInteger{0}), "0 command buffers");
}

TEST_CASE("shared events order two queues, and tell listeners") {
  Host host;
  const auto other = NS::TransferPtr(host.device->newCommandQueue());
  const auto event = NS::TransferPtr(host.device->newSharedEvent());
  const auto y = host.buffer(32 * word);
  std::promise<uint64_t> told;
  event->notifyListener(MTL::SharedEventListener::sharedListener(), 2,
                        MTL::SharedEventNotificationFunction(
                            [&](MTL::SharedEvent*, uint64_t value) { told.set_value(value); }));

  MTL::CommandBuffer* const waits = other->commandBuffer();
  waits->encodeWait(event.get(), 1);
  encode_add(host, waits, y);
  waits->encodeSignalEvent(event.get(), 2);
  waits->commit();
  CHECK_FALSE(event->waitUntilSignaledValue(2, 20));
  CHECK(Host::data<uint32_t>(y)[0] == 0);

  MTL::CommandBuffer* const signals = host.queue->commandBuffer();
  encode_add(host, signals, y);
  signals->encodeSignalEvent(event.get(), 1);
  signals->commit();
  waits->waitUntilCompleted();
  CHECK(Host::data<uint32_t>(y)[0] == 2);
  CHECK(event->signaledValue() == 2);
  CHECK(event->waitUntilSignaledValue(2, 0));
  CHECK(told.get_future().get() == 2);
  CHECK_MISUSE(event->setSignaledValue(1), "must grow");
}

TEST_CASE("an event that nobody signals ends the wait with a timeout error, where the environment says so") {
  setenv("METALSIM_EVENT_TIMEOUT_MS", "30", 1);
  Host host;
  const auto event = NS::TransferPtr(host.device->newEvent());
  event->setLabel(text("never"));
  MTL::CommandBuffer* const commands = host.queue->commandBuffer();
  commands->encodeWait(event.get(), 5);
  CHECK(contains(Host::run(commands), "MTLEvent \"never\""));
  CHECK(commands->error()->code() == MTL::CommandBufferErrorTimeout);
  unsetenv("METALSIM_EVENT_TIMEOUT_MS");
}

TEST_CASE("two queues run at the same time") {
  Host host;
  const auto other = NS::TransferPtr(host.device->newCommandQueue());
  const auto a = NS::TransferPtr(host.device->newSharedEvent()),
             b = NS::TransferPtr(host.device->newSharedEvent());
  MTL::CommandBuffer* const one = host.queue->commandBuffer();
  one->encodeWait(a.get(), 1);
  one->encodeSignalEvent(b.get(), 1);
  one->commit();
  MTL::CommandBuffer* const two = other->commandBuffer();
  two->encodeSignalEvent(a.get(), 1);
  two->encodeWait(b.get(), 1);
  two->commit();
  one->waitUntilCompleted();
  two->waitUntilCompleted();
  CHECK(one->status() == MTL::CommandBufferStatusCompleted);
  CHECK(two->status() == MTL::CommandBufferStatusCompleted);
}

TEST_CASE("planned faults end the right command buffer with Metal's codes, and the next one runs") {
  using metalsim::FaultKind;
  const struct {
    FaultKind kind;
    MTL::CommandBufferError code;
  } rows[] = {{FaultKind::fail, MTL::CommandBufferErrorInternal},
              {FaultKind::out_of_memory, MTL::CommandBufferErrorOutOfMemory},
              {FaultKind::page_fault, MTL::CommandBufferErrorPageFault},
              {FaultKind::hang, MTL::CommandBufferErrorTimeout}};
  for (const auto& row : rows) {
    Host host;
    CAPTURE(static_cast<int>(row.kind));
    metalsim::inject_fault({row.kind, 2, 30});
    const auto y = host.buffer(32 * word);
    for (int i = 1; i <= 3; ++i) {
      MTL::CommandBuffer* const commands = host.queue->commandBuffer();
      encode_add(host, commands, y);
      bool handler_saw_error = false;
      commands->addCompletedHandler(
          MTL::HandlerFunction([&](MTL::CommandBuffer* c) { handler_saw_error = c->error(); }));
      const std::string error = Host::run(commands);
      CHECK(error.empty() == (i != 2));
      CHECK(handler_saw_error == (i == 2));
      if (i != 2) continue;
      CHECK(commands->status() == MTL::CommandBufferStatusError);
      CHECK(commands->error()->code() == static_cast<NS::Integer>(row.code));
      CHECK(commands->error()->domain()->isEqualToString(text("MTLCommandBufferErrorDomain")));
    }
    CHECK(Host::data<uint32_t>(y)[0] == 2);
    CHECK(take_reports().empty());
  }
}

TEST_CASE("a hang lasts as long as planned") {
  Host host;
  metalsim::inject_fault({metalsim::FaultKind::hang, 1, 150});
  MTL::CommandBuffer* const commands = host.queue->commandBuffer();
  const auto begin = std::chrono::steady_clock::now();
  commands->commit();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK(commands->status() <
        MTL::CommandBufferStatusCompleted);  // a host with a bound of 20 ms would give up here
  commands->waitUntilCompleted();
  CHECK(std::chrono::steady_clock::now() - begin >= std::chrono::milliseconds(150));
  metalsim::inject_fault({metalsim::FaultKind::fail, 1});
  metalsim::clear_faults();
  CHECK(Host::run(host.queue->commandBuffer()).empty());
}

TEST_CASE("the capture manager has no tool attached and says so") {
  Host host;
  MTL::CaptureManager* const manager = MTL::CaptureManager::sharedCaptureManager();
  CHECK(manager == MTL::CaptureManager::sharedCaptureManager());
  CHECK_FALSE(manager->supportsDestination(MTL::CaptureDestinationGPUTraceDocument));
  CHECK_FALSE(manager->isCapturing());
  const auto descriptor = NS::TransferPtr(MTL::CaptureDescriptor::alloc()->init());
  NS::Error* error = nullptr;
  CHECK_FALSE(manager->startCapture(descriptor.get(), &error));
  CHECK(error->code() == MTL::CaptureErrorInvalidDescriptor);
  descriptor->setCaptureObject(reinterpret_cast<NS::Object*>(host.queue.get()));
  descriptor->setDestination(MTL::CaptureDestinationGPUTraceDocument);
  CHECK_FALSE(manager->startCapture(descriptor.get(), &error));
  CHECK(error->code() == MTL::CaptureErrorNotSupported);
  manager->stopCapture();

  const auto scope = NS::TransferPtr(manager->newCaptureScope(host.queue.get()));
  CHECK(scope->commandQueue() == host.queue.get());
  manager->setDefaultCaptureScope(scope.get());
  CHECK(manager->defaultCaptureScope() == scope.get());
  scope->beginScope();
  scope->endScope();
  CHECK_MISUSE(scope->endScope(), "without beginScope");
  manager->setDefaultCaptureScope(nullptr);
}
