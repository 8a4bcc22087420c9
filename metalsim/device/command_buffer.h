// MTLCommandBuffer: commands are encoded by the host, then executed on the queue's thread.
#pragma once

#include <Metal/MTLCommandBuffer.hpp>

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "device/block.h"
#include "device/buffer.h"
#include "device/command_queue.h"
#include "device/device.h"

namespace metalsim::device {

class CommandBufferDescriptor : public Object {
 public:
  static constexpr const char* class_name = "MTLCommandBufferDescriptor";

  bool retained_references() const { return retained_references_; }
  void set_retained_references(bool retained) { retained_references_ = retained; }
  UInteger error_options() const { return error_options_; }
  void set_error_options(UInteger options) { error_options_ = options; }

 private:
  bool retained_references_ = true;
  UInteger error_options_ = 0;
};

/// Why execution ended early.
struct Failure {
  MTL::CommandBufferError code;
  std::string message;
};

class CommandEncoder;

class CommandBuffer : public DeviceObject {
 public:
  static constexpr const char* class_name = "MTLCommandBuffer";

  /// One encoded step. Returns null when it went well.
  using Command = std::function<std::unique_ptr<Failure>()>;

  CommandBuffer(CommandQueue* queue, bool retained_references);
  ~CommandBuffer() override;

  // What the host calls.
  Object* queue() const { return queue_.get(); }
  bool retained_references() const { return retained_references_; }
  UInteger error_options() const { return 0; }
  Object* compute_encoder();
  Object* compute_encoder_of_type(MTL::DispatchType type);
  Object* compute_encoder_from_descriptor(Object* descriptor);
  Object* blit_encoder();
  void encode_signal(Object* event, uint64_t value);
  void encode_wait(Object* event, uint64_t value);
  void use_residency_set(Object* set);
  void use_residency_sets(Object* const* sets, UInteger count);
  void add_scheduled_handler(const void* block);
  void add_completed_handler(const void* block);
  void push_debug_group(String* name);
  void pop_debug_group();
  void enqueue();
  void commit();
  void wait_until_scheduled();
  void wait_until_completed();
  MTL::CommandBufferStatus status() const;
  Object* error() const;
  double gpu_start() const;
  double gpu_end() const;

  // What encoders call.

  /// Whether commands may be added; if not, that is reported as a mistake of `what`.
  bool may_encode(const char* what);
  void add(Command command);

  /// Keeps a resource alive until the work is done, whether or not the host asked for that.
  void keep(Resource* resource);
  void keep(Object* object);

  void encoder_ended() { open_encoder_ = nullptr; }

  /// Something encoded could not be done; execution will end with this error.
  void make_invalid(const std::string& reason);

  // What the queue calls.
  bool is_committed() const { return status() >= MTL::CommandBufferStatusCommitted; }
  void execute();

  /// Command buffers of a queue that are committed and not completed.
  static UInteger committed_of(const CommandQueue* queue);

 private:
  using Handler = Block<Object*>;

  template <class Encoder, class... Arguments>
  Object* open_encoder(const char* what, Arguments... arguments);
  std::unique_ptr<Failure> run_commands();
  void set_status(MTL::CommandBufferStatus status);
  void finish(std::unique_ptr<Failure> failure);
  void check_unretained() const;
  void release_kept();
  void call(std::vector<Handler>& handlers);

  Ref<CommandQueue> queue_;
  const bool retained_references_;
  CommandEncoder* open_encoder_ = nullptr;
  int debug_groups_ = 0;
  std::vector<Command> commands_;
  std::vector<Ref<Resource>> resources_;
  std::vector<Ref<Object>> kept_;
  std::unique_ptr<Failure> invalid_;

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  MTL::CommandBufferStatus status_ = MTL::CommandBufferStatusNotEnqueued;
  bool handlers_called_ = false;
  Ref<Error> error_;
  double gpu_start_ = 0;
  double gpu_end_ = 0;
  std::vector<Handler> scheduled_handlers_;
  std::vector<Handler> completed_handlers_;
};

void register_command_buffer_classes();

}  // namespace metalsim::device
