// MTLCommandQueue: one thread executes its command buffers in order, another calls their handlers.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "device/device.h"
#include "device/residency_set.h"
#include "device/task_thread.h"

namespace metalsim::device {

class CommandBuffer;

class CommandQueueDescriptor : public Object {
 public:
  static constexpr const char* class_name = "MTLCommandQueueDescriptor";

  UInteger max_command_buffers() const { return max_command_buffers_; }
  void set_max_command_buffers(UInteger count) { max_command_buffers_ = count; }

 private:
  UInteger max_command_buffers_ = Limits::command_buffers;
};

class CommandQueue : public DeviceObject {
 public:
  static constexpr const char* class_name = "MTLCommandQueue";
  CommandQueue(Device* device, UInteger max_command_buffers);

  Object* command_buffer();
  Object* command_buffer_unretained();
  Object* command_buffer_from_descriptor(Object* descriptor);
  void add_residency_set(Object* set);
  void add_residency_sets(Object* const* sets, UInteger count);
  void remove_residency_set(Object* set);
  void remove_residency_sets(Object* const* sets, UInteger count);
  void insert_capture_boundary() {}

  /// Gives the command buffer its place in the order of execution.
  void enqueue(CommandBuffer* buffer);

  /// The command buffer may run once those enqueued before it have.
  void committed();

  /// Whether the caller runs on the thread that calls handlers.
  bool on_handler_thread() const { return handlers_.is_current(); }

  /// Runs a task on the thread that calls handlers.
  void post_to_handlers(std::function<void()> task) { handlers_.post(std::move(task)); }

  /// A command buffer was destroyed or has completed: one less counts against the queue's limit.
  void forget_one();

 private:
  CommandBuffer* create(bool retained);
  void wait_for_room();
  void execute_ready();

  std::mutex mutex_;
  std::condition_variable room_;
  std::deque<Ref<CommandBuffer>> order_;  // enqueued, not yet begun
  UInteger unfinished_ = 0;
  const UInteger max_unfinished_;
  std::vector<Ref<ResidencySet>> residency_sets_;
  TaskThread handlers_;  // before executor_: execution posts to it until the end
  TaskThread executor_;
};

void register_command_queue_classes();

}  // namespace metalsim::device
